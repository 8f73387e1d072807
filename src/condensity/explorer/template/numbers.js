// Special functions, root finding, small matrices, and arrays from Python.

const ROOT_2PI = Math.sqrt(2 * Math.PI);

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

/** Numbers of an array from Python: base64 of little-endian numbers of one of these kinds. */
function decode(encoded) {
  const [[kind, code]] = Object.entries(encoded), text = atob(code), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[kind](bytes.buffer);
}

/** exp(x²) erfc(x) for x >= 0, exact but slow: a series for x < 1, a continued fraction above. */
function slowErfcx(x) {
  if (x >= 1) {
    let tail = 0;
    for (let k = 2000; k > 0; k--) tail = k / 2 / (x + tail);
    return 1 / (Math.sqrt(Math.PI) * (x + tail));
  }
  let term = (2 * x) / Math.sqrt(Math.PI), sum = 0;
  for (let n = 1; n < 60; n++) {
    sum += term;
    term *= (2 * x * x) / (2 * n + 1);
  }
  return Math.exp(x * x) - sum;
}

// (1 + 2x) exp(x²) erfc(x) is smooth in t = (x - 3.75) / (x + 3.75), which maps all x >= 0 to
// [-1, 1): 30 Chebyshev coefficients approximate it to rounding error.
const CHEBYSHEV = chebyshev((t) => {
  const x = (3.75 * (1 + t)) / (1 - t);
  return (1 + 2 * x) * slowErfcx(x);
}, 30);

/** The first `count` Chebyshev coefficients of f on [-1, 1], from its values at 64 nodes. */
function chebyshev(f, count) {
  const nodes = 64, out = new Float64Array(count);
  for (let i = 0; i < nodes; i++) {
    const angle = (Math.PI * (i + 0.5)) / nodes, value = f(Math.cos(angle));
    for (let k = 0; k < count; k++) out[k] += (2 / nodes) * value * Math.cos(k * angle);
  }
  out[0] /= 2;
  return out;
}

/** P(Z > z) of the standard normal distribution for z >= 0, to full relative precision. */
function upperTail(z) {
  const x = z * Math.SQRT1_2, t = (x - 3.75) / (x + 3.75);
  let b = 0, c = 0;
  for (let k = CHEBYSHEV.length - 1; k > 0; k--) [b, c] = [2 * t * b - c + CHEBYSHEV[k], b];
  return (0.5 * Math.exp(-0.5 * z * z) * (t * b - c + CHEBYSHEV[0])) / (1 + 2 * x);
}

/** P(Z <= z) of the standard normal distribution. */
function normalCdf(z) {
  if (z > 40) return 1;
  if (z < -40) return 0;
  return z <= 0 ? upperTail(-z) : 1 - upperTail(z);
}

/** A root of f between a and b, where f has different signs: Chandrupatla's combination of inverse
 * quadratic interpolation and bisection, to rounding error. */
function root(f, a, b, slack = 0) {
  let fa = f(a), fb = f(b);
  if (fa === 0) return a;
  if (fb === 0) return b;
  let c = a, fc = fa, t = 0.5;
  for (let step = 0; step < 200; step++) {
    const x = a + t * (b - a), fx = f(x);
    if (Math.sign(fx) === Math.sign(fa)) { c = a; fc = fa; }
    else { c = b; fc = fb; b = a; fb = fa; }
    a = x; fa = fx;
    const best = Math.abs(fa) < Math.abs(fb) ? a : b;
    const near = (4e-16 * Math.abs(best) + 1e-300) / Math.abs(b - a);
    if (near > 0.5 || Math.min(Math.abs(fa), Math.abs(fb)) <= slack) return best;
    const xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    t = 0.5;
    if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi) {
      t = (fa / (fb - fa)) * (fc / (fb - fc))
        + ((c - a) / (b - a)) * (fa / (fc - fa)) * (fb / (fc - fb));
    }
    t = Math.min(1 - near, Math.max(near, t));
  }
  return a;
}

/** The lower Cholesky factor of a symmetric matrix (d, d), row after row. */
function cholesky(S, d) {
  const L = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = S[i * d + j];
      for (let k = 0; k < j; k++) sum -= L[i * d + k] * L[j * d + k];
      L[i * d + j] = i === j ? Math.sqrt(sum) : sum / L[j * d + j];
    }
  }
  return L;
}

/** Rows and columns `keep` of L L', for a lower factor L (d, d). */
function covarianceOf(L, d, keep) {
  const out = new Float64Array(keep.length ** 2);
  keep.forEach((p, i) => keep.forEach((q, j) => {
    for (let k = 0; k < d; k++) out[i * keep.length + j] += L[p * d + k] * L[q * d + k];
  }));
  return out;
}
