// Contours of a function on a grid by marching squares, and the heights of given probabilities.

/** Heights and masses [p, m] = f(x, y) at (n + 1)² points of a rectangle, row after row from below. */
function sampleGrid(f, [x0, x1], [y0, y1], n) {
  const heights = new Float64Array((n + 1) ** 2), masses = new Float64Array((n + 1) ** 2);
  const dx = (x1 - x0) / n, dy = (y1 - y0) / n;
  for (let j = 0, k = 0; j <= n; j++) {
    for (let i = 0; i <= n; i++, k++) [heights[k], masses[k]] = f(x0 + dx * i, y0 + dy * j);
  }
  return { heights, masses, n, x0, y0, dx, dy };
}

/** The height f for which {p >= f} contains the share `level` of the mass on the grid. */
function heightOf({ heights, masses }, level) {
  const order = [...heights.keys()].sort((a, b) => heights[b] - heights[a]);
  const goal = level * masses.reduce((a, b) => a + b, 0);
  let sum = 0;
  return heights[order.find((k) => (sum += masses[k]) >= goal)];
}

/** Segments [[x, y], [x, y]] of the line p = height. */
function contour({ heights, n, x0, y0, dx, dy }, height) {
  const out = [], at = (i, j) => heights[j * (n + 1) + i];
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const cut = [];
      corners.forEach(([a, b], k) => {
        const [c, d] = corners[(k + 1) % 4], p = at(a, b), q = at(c, d);
        if (p >= height === q >= height) return;
        const t = (height - p) / (q - p);
        cut.push([x0 + dx * (a + t * (c - a)), y0 + dy * (b + t * (d - b))]);
      });
      for (let k = 0; k + 1 < cut.length; k += 2) out.push([cut[k], cut[k + 1]]);
    }
  }
  return out;
}

/** Join segments that share an end: lines of points, closed if their ends meet. */
function joinSegments(segments) {
  const key = ([x, y]) => `${x.toPrecision(10)} ${y.toPrecision(10)}`, ends = new Map();
  for (const segment of segments) {
    for (const end of segment) ends.set(key(end), [...(ends.get(key(end)) ?? []), segment]);
  }
  const used = new Set(), lines = [];
  for (const segment of segments) {
    if (used.has(segment)) continue;
    used.add(segment);
    const line = [...segment];
    for (const forward of [true, false]) {
      for (;;) {
        const end = forward ? line.at(-1) : line[0];
        const next = (ends.get(key(end)) ?? []).find((one) => !used.has(one));
        if (!next) break;
        used.add(next);
        const other = key(next[0]) === key(end) ? next[1] : next[0];
        if (forward) line.push(other); else line.unshift(other);
      }
    }
    lines.push(line);
  }
  return lines;
}
