// The fitted model: from inputs x to the Gaussian mixture p(y|x), the same steps as in Python.
//
// Each member of a part gives weights to the Gaussians of the part; the part averages them.
// In part j, Gaussian k is y = shift(x) + c_k + L_g e, with one factor L_g for each group of
// consecutive Gaussians (the kernels; the background).  The frame of the part gives the shift and
// the inputs of the members.  Parts may share a frame: it is evaluated once for each x.

function readModel(encoded) {
  const linear = (map) => map && {
    matrix: decode(map.matrix), origin: decode(map.origin), offset: decode(map.offset),
  };
  const parts = encoded.parts.map((part) => ({
    ...part,
    centers: decode(part.centers),
    groups: part.groups.map((g) => ({ size: g.size, factor: decode(g.factor), free: g.free })),
    members: part.members.map((member) => ({
      ...member,
      W: member.W && decode(member.W),
      U: decode(member.U),
      log_alpha: member.log_alpha && decode(member.log_alpha),
      weight: member.weight && decode(member.weight),
    })),
  }));
  return {
    ...encoded, parts,
    frames: encoded.frames.map(readFrame),
    y_mean: decode(encoded.y_mean),
    y_sd: decode(encoded.y_sd),
    before: linear(encoded.before),
    summary: linear(encoded.summary),
    stretch: encoded.stretch && decode(encoded.stretch),
  };
}

/** matrix (x - origin) + offset. */
function applyLinear({ matrix, origin, offset }, x) {
  return offset.map((value, i) => {
    for (let j = 0; j < x.length; j++) value += matrix[i * x.length + j] * (x[j] - origin[j]);
    return value;
  });
}

/** The coordinates of the summary plot: z, or x without a reduction. */
function reduce(model, x) {
  return Array.from(model.summary ? applyLinear(model.summary, x) : x);
}

/** matrix x, for a matrix of any number of rows. */
function product(matrix, x) {
  const out = new Float64Array(matrix.length / x.length);
  for (let i = 0; i < out.length; i++) {
    for (let j = 0; j < x.length; j++) out[i] += matrix[i * x.length + j] * x[j];
  }
  return out;
}

/** Squared distances from z to the rows of U. */
function squaredDistances(z, U) {
  const d = z.length, out = new Float64Array(U.length / d);
  for (let k = 0; k < out.length; k++) {
    for (let i = 0; i < d; i++) out[k] += (z[i] - U[k * d + i]) ** 2;
  }
  return out;
}

/** exp(logs) divided by their sum, in place. */
function softmax(logs) {
  let top = -Infinity, sum = 0;
  for (const value of logs) top = Math.max(top, value);
  for (let k = 0; k < logs.length; k++) sum += logs[k] = Math.exp(logs[k] - top);
  for (let k = 0; k < logs.length; k++) logs[k] /= sum;
  return logs;
}

/** Weights of a member's Gaussians: kernels of z at its centres, and the background if it has one. */
function kernelWeights(member, x) {
  const d = member.dz, z = product(member.W, x), U = member.U, count = U.length / d;
  const logs = Float64Array.from(member.log_alpha), precision = 1 / member.sigma_z ** 2;
  if (logs.length > count) { // the background comes last and has no kernel
    const squared = squaredDistances(z, U);
    for (let k = 0; k < count; k++) logs[k] -= 0.5 * precision * squared[k];
    return softmax(logs);
  }
  // |z|² is the same for all centres and cancels.  Leaving it out avoids rounding errors far out.
  for (let k = 0; k < count; k++) {
    let near = 0;
    for (let i = 0; i < d; i++) near += (z[i] - 0.5 * U[k * d + i]) * U[k * d + i];
    logs[k] += precision * near;
  }
  return softmax(logs);
}

/** Weights of the samples within epsilon; if there are none, of the nearest sample. */
function neighbourWeights(member, x) {
  const distances = squaredDistances(x, member.U).map(Math.sqrt);
  const epsilon = member.epsilon ?? Infinity;
  const reach = Math.max(epsilon, distances.reduce((a, b) => Math.min(a, b))) * (1 + 1e-12);
  const weights = member.weight.map((weight, k) => (distances[k] <= reach ? weight : 0));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum);
}

/** Mean weights of the Gaussians of a part, for inputs of its members. */
function partWeights(model, part, inputs) {
  const weights = new Float64Array(part.centers.length / model.dy);
  for (const member of part.members) {
    const memberWeights = member.W ? kernelWeights(member, inputs) : neighbourWeights(member, inputs);
    for (let k = 0; k < weights.length; k++) {
      weights[k] += (part.share * memberWeights[k]) / part.members.length;
    }
  }
  return weights;
}

/** The mixture p(y|x): weights (K), means (K, dy), and groups with their factors (dy, dy). */
function mixtureAt(model, x) {
  const own = Float64Array.from(model.before ? applyLinear(model.before, x) : x), dy = model.dy;
  const frames = model.frames.map((frame) => frameAt(model, frame, own));
  const parts = model.parts.map((part) => {
    const { inputs, shift } = frames[part.frame];
    return { part, weights: partWeights(model, part, inputs), shift };
  });
  const total = parts.reduce((sum, p) => sum + p.weights.length, 0);
  const weights = new Float64Array(total), means = new Float64Array(total * dy), groups = [];
  let at = 0;
  for (const p of parts) {
    let k = 0;
    for (const { size, factor, free } of p.part.groups) {
      groups.push({ start: at, end: at + size, factor, free });
      for (const end = at + size; at < end; at++, k++) {
        weights[at] = p.weights[k];
        for (let j = 0; j < dy; j++) means[at * dy + j] = p.shift[j] + p.part.centers[k * dy + j];
      }
    }
  }
  const sum = weights.reduce((a, b) => a + b, 0);
  const mixture = { dy, weights: weights.map((w) => w / sum), means, groups };
  return model.stretch ? stretched(mixture, model.stretch) : mixture;
}

function mixtureMean({ dy, weights, means }) {
  const out = new Float64Array(dy);
  for (let k = 0; k < weights.length; k++) {
    for (let j = 0; j < dy; j++) out[j] += weights[k] * means[k * dy + j];
  }
  return out;
}

/** The mixture with kernels moved away from the mean and widened by the factors; the background
 * does not change. */
function stretched(mixture, factors) {
  const { dy } = mixture, mean = mixtureMean(mixture), means = Float64Array.from(mixture.means);
  const groups = mixture.groups.map((group) => {
    if (!group.free) return group;
    for (let i = group.start * dy; i < group.end * dy; i++) {
      means[i] = mean[i % dy] + factors[i % dy] * (means[i] - mean[i % dy]);
    }
    return { ...group, factor: group.factor.map((v, i) => v * factors[Math.floor(i / dy)]) };
  });
  return { ...mixture, means, groups };
}
