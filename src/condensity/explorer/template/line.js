// The density of one output: a Gaussian mixture on a line, mapped to the bounds of the output.

class Line {
  constructor(weights, means, sds, map) {
    Object.assign(this, { weights, means, sds, map });
  }

  static of({ weights, means, groups }, map) {
    const sds = new Float64Array(weights.length);
    for (const { start, end, factor } of groups) sds.fill(factor[0], start, end);
    return new Line(weights, means, sds, map);
  }

  /** P(U <= u), or P(U > u) for side -1, each to full relative precision. */
  freeCdf(u, side = 1) {
    const { weights, means, sds } = this;
    let total = 0;
    for (let k = 0; k < weights.length; k++) total += weights[k] * normalCdf((side * (u - means[k])) / sds[k]);
    return total;
  }

  pdf(y) {
    const u = toFree(this.map, y);
    if (!Number.isFinite(u)) return 0;
    const { weights, means, sds } = this;
    let total = 0;
    for (let k = 0; k < weights.length; k++) {
      const z = (u - means[k]) / sds[k], half = 0.5 * z * z;
      if (half < 745) total += (weights[k] / sds[k]) * Math.exp(-half); // otherwise exp(-half) is zero
    }
    return (total / ROOT_2PI) * volume(this.map, u);
  }

  cdf(y) {
    const u = toFree(this.map, y);
    return Number.isFinite(u) ? this.freeCdf(u) : Number(u > 0);
  }

  /** P(a < Y <= b), to full relative precision in both tails. */
  prob(a, b) {
    const [low, high] = [toFree(this.map, a), toFree(this.map, b)];
    let total = 0;
    for (let k = 0; k < this.weights.length; k++) {
      const from = (low - this.means[k]) / this.sds[k], to = (high - this.means[k]) / this.sds[k];
      const flip = from + to > 0 ? -1 : 1; // subtract in the smaller tail
      total += this.weights[k] * Math.abs(normalCdf(flip * to) - normalCdf(flip * from));
    }
    return total;
  }

  /** y with P(Y <= y) = q, for 0 < q < 1. */
  quantile(q) {
    return this.once(`quantile ${q}`, () => toBounded(this.map, this.trimmed().freeQuantile(q)));
  }

  /** The result of `compute`, cached: several panels use the same numbers. */
  once(name, compute) {
    this.known ??= new Map();
    if (!this.known.has(name)) this.known.set(name, compute());
    return this.known.get(name);
  }

  freeQuantile(q) {
    const side = q <= 0.5 ? 1 : -1, tail = q <= 0.5 ? q : 1 - q;
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < this.means.length; k++) {
      low = Math.min(low, this.means[k] - 10 * this.sds[k]);
      high = Math.max(high, this.means[k] + 10 * this.sds[k]);
    }
    return root((u) => side * (this.freeCdf(u, side) - tail), low, high);
  }

  /** The line without Gaussians of negligible weight. */
  trimmed() {
    return this.once("trimmed", () => {
      const keep = [...this.weights.keys()].filter((k) => this.weights[k] > 1e-18);
      if (keep.length === this.weights.length) return this;
      const take = (values) => Float64Array.from(keep, (k) => values[k]);
      return new Line(take(this.weights), take(this.means), take(this.sds), this.map);
    });
  }

  mean() {
    return this.once("mean", () => this.moment((y) => y, (c) => c.map.lower + c.exponential(1), (c) => c.map.upper - c.exponential(-1)));
  }

  sd() {
    const mean = this.mean(), square = (c, s) => c.exponential(2 * s) - c.exponential(s) ** 2;
    const variance = () => this.moment((y) => (y - mean) ** 2, (c) => square(c, 1), (c) => square(c, -1));
    return Math.sqrt(this.once("variance", variance));
  }

  /** E f(Y): in closed form with one bound or none, by quadrature with two. */
  moment(f, lower, upper) {
    if (this.map?.kind === "lower") return lower(this);
    if (this.map?.kind === "upper") return upper(this);
    return this.map ? this.integral(f) : this.gaussianMoment(f);
  }

  /** E f for a polynomial f of degree two or less: three nodes for each Gaussian are exact. */
  gaussianMoment(f) {
    const away = Math.sqrt(3);
    let total = 0;
    for (let k = 0; k < this.weights.length; k++) {
      const m = this.means[k], d = away * this.sds[k];
      total += this.weights[k] * ((2 / 3) * f(m) + (f(m - d) + f(m + d)) / 6);
    }
    return total;
  }

  /** E f by the trapezoidal rule on each Gaussian, exact to rounding error for smooth f. */
  integral(f) {
    const line = this.trimmed();
    let total = 0;
    for (let k = 0; k < line.weights.length; k++) {
      const s = line.sds[k], h = Math.min(0.4, 0.4 / s), n = Math.ceil(9 / h);
      let sum = 0;
      for (let i = -n; i <= n; i++) {
        sum += Math.exp(-0.5 * (i * h) ** 2) * f(toBounded(this.map, line.means[k] + s * h * i));
      }
      total += (line.weights[k] * sum * h) / ROOT_2PI;
    }
    return total;
  }

  /** E exp(p u). */
  exponential(p) {
    let total = 0;
    for (let k = 0; k < this.weights.length; k++) {
      total += this.weights[k] * Math.exp(p * this.means[k] + 0.5 * (p * this.sds[k]) ** 2);
    }
    return total;
  }

  /** The mixture in u that is proportional to p(y), so it has the same level sets. */
  heights() {
    return this.once("heights", () => this.computeHeights());
  }

  computeHeights() {
    const line = this.trimmed(), terms = slopes(this.map), count = line.weights.length;
    const [weights, means, sds] = [0, 1, 2].map(() => new Float64Array(count * terms.length));
    terms.forEach(([c, p], t) => {
      for (let k = 0; k < count; k++) {
        const i = t * count + k, s = line.sds[k];
        weights[i] = Math.log(line.weights[k] * c) + p * line.means[k] + 0.5 * (p * s) ** 2;
        means[i] = line.means[k] + p * s * s;
        sds[i] = s;
      }
    });
    return new Line(softmax(weights), means, sds, null).trimmed();
  }

  /** Local maxima of p(y), highest first. */
  modes() {
    return this.turns().filter((turn) => turn.peak)
      .sort((a, b) => b.log - a.log).map((turn) => toBounded(this.map, turn.u));
  }

  /** Critical points of p(y), in u. */
  turns() {
    return this.once("turns", () => turnsOf(this.heights()));
  }

  /** The smallest region of probability `level`, as intervals [from, to]. */
  hdr(level) {
    return this.once(`region ${level}`, () => {
      const region = highestDensity(this.trimmed(), this.heights(), this.turns(), level);
      return region.map((ends) => ends.map((u) => toBounded(this.map, u)));
    });
  }
}
