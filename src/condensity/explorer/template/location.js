// The frame of a part: the standardised inputs, and the location of y there.
//
// A location is the sum of a plane, Gaussian bells and regression trees, in standard deviations
// of y.  Bells are functions of all inputs, or of a few directions.  Far from the samples its values
// are limited.  If it may depend on all inputs, its value is one more input of the density.

function readFrame(frame) {
  const all = (arrays) => Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, decode(a)]));
  const { intercept, slope, bells, trees } = frame.location, { predicted } = frame;
  return {
    mean: decode(frame.mean),
    inverse: decode(frame.inverse),
    location: {
      intercept: decode(intercept), slope: slope && decode(slope), bells: bells.map(all), trees: trees.map(all),
    },
    limits: frame.limits && all(frame.limits),
    predicted: predicted && { ...predicted, axis: decode(predicted.axis) },
  };
}

/** The inputs of the density at x, and the shift of y. */
function frameAt(model, frame, x) {
  const inputs = x.map((value, j) => (value - frame.mean[j]) * frame.inverse[j]);
  const m = limited(frame.limits, locationAt(frame.location, inputs));
  const shift = m.map((value, j) => model.y_mean[j] + model.y_sd[j] * value);
  if (!frame.predicted) return { inputs, shift };
  const { axis, mean, sd } = frame.predicted;
  const value = m.reduce((sum, part, j) => sum + part * axis[j], 0);
  return { inputs: Float64Array.of(...inputs, (value - mean) / sd), shift };
}

function locationAt({ intercept, slope, bells, trees }, x) {
  const m = Float64Array.from(intercept), dy = m.length;
  for (let i = 0; slope && i < x.length; i++) {
    for (let j = 0; j < dy; j++) m[j] += x[i] * slope[i * dy + j];
  }
  for (const some of bells) addBells(m, some, x);
  for (const some of trees) addTrees(m, some, x);
  return m;
}

/** Values outside the limits, moved towards the middle by a common factor. */
function limited(limits, m) {
  if (!limits) return m;
  const { middle, below, above } = limits;
  const ratio = m.reduce((top, value, j) => {
    const offset = value - middle[j];
    return Math.max(top, offset / above[j], -offset / below[j]);
  }, 1);
  return m.map((value, j) => middle[j] + (value - middle[j]) / ratio);
}

/** Add exp(-|M x - c|² / 2) times its coefficients for each centre c, M the matrix. */
function addBells(m, { matrix, centers, coefficients }, x) {
  const squared = squaredDistances(product(matrix, x), centers), dy = m.length;
  for (let k = 0; k < squared.length; k++) {
    const bell = Math.exp(-0.5 * squared[k]);
    for (let j = 0; j < dy; j++) m[j] += bell * coefficients[k * dy + j];
  }
}

/** Add the leaves of all trees.  Node -1 - k is leaf k; inputs are compared in single precision. */
function addTrees(m, { roots, feature, threshold, below, above, value }, x) {
  const rounded = Float32Array.from(x), dy = m.length;
  for (let t = 0; t < roots.length; t++) {
    let node = roots[t];
    while (node >= 0) node = rounded[feature[node]] <= threshold[node] ? below[node] : above[node];
    m[t % dy] += value[-1 - node];
  }
}
