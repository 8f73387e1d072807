// The density or distribution function of the selected output, with the pinned ones.

const CURVE_POINTS = 320, MANY = 1500; // with more Gaussians, half the points keep the page fast

/** The range of the horizontal axis: the range of the data, widened to the drawn densities. */
function outputSpan(lines, output) {
  let { low, high } = content.outputs[output];
  for (const line of lines) {
    low = Math.min(low, line.quantile(0.005));
    high = Math.max(high, line.quantile(0.995));
  }
  return [low, high];
}

/** Points of a curve: evenly spaced ones, and the modes, because narrow peaks fit between points. */
function curvePoints(line, [low, high], f) {
  const count = line.weights.length > MANY ? CURVE_POINTS / 2 : CURVE_POINTS, width = (high - low) / count;
  const places = Array.from({ length: count + 1 }, (_, i) => low + width * i);
  for (const mode of line.modes()) {
    for (const shift of [-0.5, -0.25, 0, 0.25, 0.5]) {
      const y = mode + shift * width;
      if (y > low && y < high) places.push(y);
    }
  }
  return places.sort((a, b) => a - b).map((y) => [y, f(y)]);
}

function buildCurve() {
  const host = byId("curve");
  const plot = new Plot(host, { left: 54, top: 36 }, drawCurve);
  plot.svg.append(plot.cursor = mark("g", {}));
  onChange(() => plot.redraw());
  host.onpointermove = (event) => moveCursor(plot.valueAt(plot.pointer(event)[0]));
  host.onpointerdown = host.onpointermove;
  host.onpointerleave = () => { if (document.activeElement !== host) moveCursor(null); };
  host.onblur = () => moveCursor(null);
  host.onfocus = () => { if (state.cursor === null) moveCursor(current().marginal(state.output).quantile(0.5)); };
  const moveCursor = (y) => {
    state.cursor = y === null ? null : Math.min(plot.ends.x1, Math.max(plot.ends.x0, y));
    drawCursor(plot);
  };
  host.onkeydown = (event) => {
    const { x0, x1 } = plot.ends, step = (x1 - x0) / 200;
    const moves = { ArrowLeft: -step, ArrowRight: step, PageDown: -10 * step, PageUp: 10 * step };
    if (event.key in moves) moveCursor((state.cursor ?? x0) + moves[event.key]);
    else if (event.key === "Home") moveCursor(x0);
    else if (event.key === "End") moveCursor(x1);
    else return;
    event.preventDefault();
  };
}

function drawCurve(plot) {
  const all = shown(), span = outputSpan(all.map(({ line }) => line), state.output);
  const f = (line) => (state.cumulative ? (y) => line.cdf(y) : (y) => line.pdf(y));
  const curves = all.map(({ name, line }) => ({ name, line, points: curvePoints(line, span, f(line)) }));
  const top = state.cumulative ? 1 : 1.08 * Math.max(...curves.flatMap((c) => c.points.map(([, p]) => p)));
  plot.span(span, [0, top]);
  const name = content.outputs[state.output].name;
  plot.axisY(state.cumulative ? "probability up to y" : "density", state.cumulative ? [0, 0.25, 0.5, 0.75, 1] : undefined);
  const [now, ...pinned] = curves;
  shadeRegion(plot, now, span);
  plot.axisX(name);
  drawQuantiles(plot, now.line, f(now.line));
  for (const { name: pin, points: curve } of pinned) {
    plot.path(curve, `curve pin-${pin}`);
    labelPin(plot, pin, curve);
  }
  plot.path(now.points, "curve now");
  const mean = now.line.mean();
  if (mean > span[0] && mean < span[1]) plot.dot(mean, f(now.line)(mean), 4.5, "mean");
  drawCursor(plot);
}

/** Shade the area under the curve over the highest-density region. */
function shadeRegion(plot, { line, points: curve }, [low, high]) {
  const height = state.cumulative ? (y) => line.cdf(y) : (y) => line.pdf(y);
  for (const [from, to] of line.hdr(state.level)) {
    const [a, b] = [Math.max(from, low), Math.min(to, high)];
    if (a >= b) continue;
    const inner = curve.filter(([y]) => y > a && y < b);
    plot.area([[a, height(a)], ...inner, [b, height(b)]], 0, "region");
  }
}

/** Draw the median as a line up to the curve, other quantiles as ticks at the axis. */
function drawQuantiles(plot, line, height) {
  const inside = (y) => y >= plot.ends.x0 && y <= plot.ends.x1;
  const median = line.quantile(0.5);
  if (inside(median)) plot.line(plot.x(median), plot.bottom, plot.x(median), plot.y(height(median)), "median");
  for (const q of [0.05, 0.25, 0.75, 0.95]) {
    const y = line.quantile(q);
    if (inside(y)) plot.line(plot.x(y), plot.bottom, plot.x(y), plot.bottom - 9, "quantile");
  }
}

/** Write the letter of a pin at the highest point of its density, or at a fixed level of its cdf. */
function labelPin(plot, pin, curve) {
  // A is at the left of the point and B at the right, so that the letters of equal densities differ.
  const level = pin === "A" ? 0.2 : 0.8, side = pin === "A" || state.cumulative ? -1 : 1;
  const [y, p] = state.cumulative
    ? curve.find(([, value]) => value >= level) ?? curve.at(-1)
    : curve.reduce((best, point) => (point[1] > best[1] ? point : best));
  const x = Math.min(plot.right - 8, Math.max(plot.left + 8, plot.x(y) + side * 9));
  plot.text(x, plot.y(p) - 7, pin, "pin-label middle");
}

function drawCursor(plot) {
  plot.cursor.replaceChildren();
  const { cursor: y } = state, readout = byId("readout");
  if (y === null) {
    readout.textContent = "Point at the curve to read it, or use the arrow keys.";
    readout.classList.add("hint");
    return;
  }
  const line = current().marginal(state.output), p = line.pdf(y), F = line.cdf(y);
  plot.line(plot.x(y), plot.top, plot.x(y), plot.bottom, "cursor", plot.cursor);
  plot.dot(y, state.cumulative ? F : Math.min(p, plot.ends.y1), 4, "cursor-dot", plot.cursor);
  readout.classList.remove("hint");
  readout.textContent = `at ${showOutput(y)}: density ${show(p)}, probability up to here ${showProbability(F)}`;
}
