// Several outputs: joint densities, marginals, and the maps of outputs with bounds.
//
// An output with bounds is modelled in an unbounded coordinate u.  `toFree` is the map, `toBounded`
// its inverse, and `slopes` gives du/dy as pairs (c, p) of a sum of c exp(p u).

function boundsOf(lower, upper) {
  const a = lower ?? -Infinity, b = upper ?? Infinity, low = a > -Infinity, high = b < Infinity;
  if (!low && !high) return null;
  const kind = low && high ? "both" : low ? "lower" : "upper";
  return { lower: a, upper: b, kind };
}

function toFree(map, y) {
  if (!map) return y;
  if (y <= map.lower) return -Infinity;
  if (y >= map.upper) return Infinity;
  const below = map.kind === "upper" ? 0 : Math.log(y - map.lower);
  return below - (map.kind === "lower" ? 0 : Math.log(map.upper - y));
}

function toBounded(map, u) {
  if (!map) return u;
  if (map.kind === "lower") return map.lower + Math.exp(u);
  if (map.kind === "upper") return map.upper - Math.exp(-u);
  return map.lower + (map.upper - map.lower) / (1 + Math.exp(-u));
}

function slopes(map) {
  if (!map) return [[1, 0]];
  if (map.kind === "lower") return [[1, -1]];
  if (map.kind === "upper") return [[1, 1]];
  const c = 1 / (map.upper - map.lower);
  return [[c, 1], [2 * c, 0], [c, -1]];
}

/** du/dy at the unbounded coordinate u. */
function volume(map, u) {
  return slopes(map).reduce((sum, [c, p]) => sum + c * Math.exp(p * u), 0);
}

/** The marginal mixture of the outputs `keep`, in this order. */
function marginalMixture(mixture, keep) {
  const { dy, weights, means } = mixture, d = keep.length, kept = new Float64Array(weights.length * d);
  for (let k = 0; k < weights.length; k++) {
    keep.forEach((j, i) => { kept[k * d + i] = means[k * dy + j]; });
  }
  const groups = mixture.groups.map((group) => ({
    ...group, factor: cholesky(covarianceOf(group.factor, dy, keep), d),
  }));
  return { dy: d, weights, means: kept, groups };
}

/** Joint density at the unbounded coordinates u (dy). */
function jointPdf({ dy, weights, means, groups }, u) {
  let total = 0;
  const white = new Float64Array(dy);
  for (const { start, end, factor: L } of groups) {
    let volume = 1, sum = 0;
    for (let j = 0; j < dy; j++) volume *= ROOT_2PI * L[j * dy + j];
    for (let k = start; k < end; k++) {
      if (weights[k] === 0) continue;
      let squared = 0;
      for (let i = 0; i < dy; i++) {
        let value = u[i] - means[k * dy + i];
        for (let j = 0; j < i; j++) value -= L[i * dy + j] * white[j];
        white[i] = value / L[i * dy + i];
        squared += white[i] * white[i];
      }
      sum += weights[k] * Math.exp(-0.5 * squared);
    }
    total += sum / volume;
  }
  return total;
}

/** The densities for one x: of all outputs, and of each output alone. */
class Distribution {
  constructor(model, x) {
    this.mixture = mixtureAt(model, x);
    this.maps = model.bounds.map(([lower, upper]) => boundsOf(lower, upper));
    this.lines = [];
  }

  /** p(y|x); y is a number, or an array with one number for each output. */
  pdf(y) {
    const u = [y].flat().map((value, j) => toFree(this.maps[j], value));
    if (!u.every(Number.isFinite)) return 0;
    const stretch = this.maps.reduce((product, map, j) => product * volume(map, u[j]), 1);
    return jointPdf(this.mixture, u) * stretch;
  }

  /** The density of output j alone. */
  marginal(j) {
    this.lines[j] ??= Line.of(marginalMixture(this.mixture, [j]), this.maps[j]);
    return this.lines[j];
  }
}

/** The mixture without Gaussians whose weight is too small to be visible. */
function dropLight(mixture, least) {
  return { ...mixture, weights: mixture.weights.map((w) => (w > least ? w : 0)) };
}
