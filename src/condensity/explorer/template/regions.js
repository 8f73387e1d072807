// Modes and highest-density regions of a Gaussian mixture on a line.
//
// Between neighbouring critical points p is monotone, so {p >= f} starts or ends at most once there.
// Its probability is a sum of differences of F.  The height f for a given level is a root.

const SPOTS = [-10, -8, -6, -5, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** log p, the score p'/p and its slope at u, without underflow. */
function slopesAt(line, u) {
  const { weights, means, sds } = line;
  let top = -Infinity;
  for (let k = 0; k < means.length; k++) top = Math.max(top, -0.5 * ((u - means[k]) / sds[k]) ** 2);
  let total = 0, first = 0, second = 0;
  for (let k = 0; k < means.length; k++) {
    const s = sds[k], z = (u - means[k]) / s;
    const term = (weights[k] / s) * Math.exp(-0.5 * z * z - top);
    total += term;
    first -= (term * z) / s;
    second += (term * (z * z - 1)) / (s * s);
  }
  const score = first / total;
  return { u, log: Math.log(total / ROOT_2PI) + top, score, bend: second / total - score * score };
}

/** log p at u without derivatives, which is faster. */
function logAt({ weights, means, sds }, u) {
  let top = Infinity, total = 0;
  for (let k = 0; k < means.length; k++) top = Math.min(top, ((u - means[k]) / sds[k]) ** 2);
  for (let k = 0; k < means.length; k++) {
    const half = 0.5 * (((u - means[k]) / sds[k]) ** 2 - top);
    if (half < 745) total += (weights[k] / sds[k]) * Math.exp(-half);
  }
  return Math.log(total / ROOT_2PI) - 0.5 * top;
}

/** Increasing points, dense enough to separate the critical points: points around the means,
 * rounded to a lattice with half the smallest standard deviation as its step. */
function scan({ means, sds }) {
  const extreme = (f, values) => values.reduce((a, b) => f(a, b));
  const step = 0.5 * extreme(Math.min, sds), low = extreme(Math.min, means) - step;
  const last = Math.ceil((extreme(Math.max, means) - low) / step + 1);
  const indices = new Set([0, last]);
  for (let k = 0; k < means.length; k++) {
    for (const spot of SPOTS) {
      indices.add(Math.min(last, Math.max(0, Math.round((means[k] + sds[k] * spot - low) / step))));
    }
  }
  return Float64Array.from(indices).sort().map((i) => low + step * i);
}

/** Points of the scan, with one more where the score may touch zero between two points. */
function signedScan(line) {
  const points = Array.from(scan(line), (u) => slopesAt(line, u)), out = [];
  points.forEach((point, i) => {
    const before = points[i - 1], sign = point.score >= 0 ? -1 : 1;
    if (before && before.score >= 0 === point.score >= 0
        && sign * before.bend > 0 && sign * point.bend < 0) {
      out.push(slopesAt(line, root((u) => slopesAt(line, u).bend, before.u, point.u)));
    }
    out.push(point);
  });
  return out;
}

/** Critical points from left to right. */
function turnsOf(line) {
  const points = signedScan(line), out = [];
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    if (a.score >= 0 !== b.score >= 0) {
      const u = root((v) => slopesAt(line, v).score, a.u, b.u);
      out.push({ u, log: logAt(line, u), peak: a.score >= 0 });
    }
  }
  return out;
}

/** Points with log p = goal, alternating between upward and downward crossings. */
function crossings(line, turns, goal) {
  const narrow = line.sds.reduce((a, b) => Math.min(a, b));
  const far = Math.sqrt(2 * Math.max(0, -Math.log(ROOT_2PI * narrow) - goal)) + 1;
  let low = Infinity, high = -Infinity;
  for (let k = 0; k < line.means.length; k++) {
    low = Math.min(low, line.means[k] - far * line.sds[k]);
    high = Math.max(high, line.means[k] + far * line.sds[k]);
  }
  const ends = [{ u: low, log: -Infinity }, ...turns, { u: high, log: -Infinity }], out = [];
  for (let i = 1; i < ends.length; i++) {
    const [a, b] = [ends[i - 1], ends[i]];
    if (a.log < goal !== b.log < goal) {
      out.push(root((u) => logAt(line, u) - goal, a.u, b.u, 2e-15));
    }
  }
  return out;
}

/** The region {p >= f} of probability `level`: probabilities by `mass`, heights by `line`. */
function highestDensity(mass, line, turns, level) {
  const tail = (1 - level) / 4;
  const ends = [tail, 1 - tail].map((q) => mass.freeQuantile(q));
  const logs = ends.map((u) => logAt(line, u));
  const within = turns.filter(({ u }) => u > ends[0] && u < ends[1]);
  const bottom = Math.min(...logs, ...within.map(({ log }) => log));
  const top = Math.max(...turns.map(({ log }) => log));
  const excess = (log) => crossings(line, turns, log)
    .reduce((sum, u, i) => sum + (i % 2 ? 1 : -1) * mass.freeCdf(u), -level);
  const borders = crossings(line, turns, root(excess, bottom, top, 2e-15));
  return borders.filter((_, i) => i % 2 === 0).map((u, i) => [u, borders[2 * i + 1]]);
}
