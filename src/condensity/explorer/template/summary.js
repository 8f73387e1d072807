// The sufficient summary plot: training samples against the directions z, and the current point.

const SHADES = 6; // steps of colour for y

function buildSummary() {
  const card = byId("summary");
  const axes = model.summary ? model.summary.offset.length : dx;
  const names = Array.from({ length: axes }, (_, i) => (model.summary ? zName(i) : content.inputs[i].name));
  const [first, second] = model.summary ? [0, 1] : controls.flatMap(({ inputs }) => inputs);
  const chosen = { across: first, up: axes > 1 && model.summary ? second + 1 : 0 }; // 0 is y
  card.querySelector("h2").textContent = model.summary ? "Summary of the inputs" : "Inputs and output";
  const upNames = () => [content.outputs[state.output].name, ...names];
  const draw = (plot) => drawSummary(plot, names, chosen);
  const plot = new Plot(byId("summary-plot"), { left: 54 }, draw);
  const fill = () => {
    fillSelect(byId("summary-across"), names.map((name) => named(name)), chosen.across, (i) => { chosen.across = i; plot.redraw(); });
    fillSelect(byId("summary-up"), upNames().map((name) => named(name)), chosen.up, (i) => { chosen.up = i; plot.redraw(); });
  };
  fill();
  byId("summary-axes").hidden = axes < 2;
  let output = state.output;
  onChange(() => {
    if (output !== state.output) { output = state.output; fill(); plot.redraw(); }
    else if (plot.x) drawHere(plot, chosen);
  });
  if (points) pickPoints(plot, chosen, names);
  else withoutSamples(plot.host);
}

/** Without samples the plot is an image, not a control. */
function withoutSamples(host) {
  byId("summary-hint").hidden = true;
  host.setAttribute("role", "img");
  host.setAttribute("aria-label", "Where the current point lies");
  host.removeAttribute("tabindex");
}

/** Ranges without samples: three units around the current z, or the ranges of the inputs. */
function edges() {
  if (!model.summary) return [content.inputs.map(({ low }) => low), content.inputs.map(({ high }) => high)];
  const here = reduce(model, state.x);
  return [here.map((z) => z - 3), here.map((z) => z + 3)];
}

function paddedSpan(values, { low, high } = { low: Infinity, high: -Infinity }) {
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  const pad = 0.04 * (high - low) || 1;
  return [low - pad, high + pad];
}

/** Coordinates of a sample on the plot, or null if y is unknown. */
function positionOf(i, { across, up }) {
  const y = points.Y?.[i][state.output];
  if (up === 0 && y === undefined) return null;
  return [points.Z[i][across], up === 0 ? y : points.Z[i][up - 1]];
}

function drawSummary(plot, names, chosen) {
  const Z = points?.Z ?? edges();
  const vertical = chosen.up === 0
    ? [content.outputs[state.output].low, content.outputs[state.output].high]
    : paddedSpan(Z.map((z) => z[chosen.up - 1]));
  plot.span(paddedSpan(Z.map((z) => z[chosen.across])), vertical);
  const name = content.outputs[state.output].name;
  plot.axisY(chosen.up === 0 ? name : names[chosen.up - 1]);
  plot.axisX(names[chosen.across]);
  const coloured = chosen.up > 0 && points?.Y;
  const ranks = coloured ? shadesOf(points.Y.map((y) => y[state.output])) : null;
  for (let i = 0; points && i < points.X.length; i++) {
    const place = positionOf(i, chosen);
    if (place && place[1] >= vertical[0] && place[1] <= vertical[1]) {
      plot.dot(...place, 2.6, coloured ? `sample shade-${ranks[i]}` : "sample");
    }
  }
  drawLegend(coloured, name);
  drawHere(plot, chosen);
}

/** Shades of the samples by y; each shade has a sixth of the samples. */
function shadesOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const cuts = Array.from({ length: SHADES - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / SHADES)]);
  return values.map((value) => cuts.filter((cut) => value >= cut).length);
}

function drawLegend(coloured, name) {
  const legend = byId("summary-legend");
  legend.hidden = !coloured;
  if (!coloured) return;
  const swatches = Array.from({ length: SHADES }, (_, i) => element("span", { className: `swatch-shade shade-${i}` }));
  legend.replaceChildren(nameNode(name), " low ", ...swatches, " high");
}

/** Draw the current point; if y is the vertical axis, the median and the regions of y. */
function drawHere(plot, { across, up }) {
  const z = reduce(model, state.x), x = Math.min(plot.right, Math.max(plot.left, plot.x(z[across])));
  plot.live.replaceChildren();
  if (up > 0) {
    const y = Math.min(plot.bottom, Math.max(plot.top, plot.y(z[up - 1])));
    plot.live.append(mark("circle", { cx: x, cy: y, r: 9, class: "here-ring" }), mark("circle", { cx: x, cy: y, r: 4, class: "here" }));
    return;
  }
  const line = current().marginal(state.output);
  const at = (y) => Math.min(plot.bottom, Math.max(plot.top, plot.y(y)));
  for (const [level, style] of [[state.level, "here-bar"], [0.5, "here-half"]]) {
    for (const [a, b] of line.hdr(level)) plot.line(x, at(a), x, at(b), style, plot.live);
  }
  plot.live.append(mark("circle", { cx: x, cy: at(line.quantile(0.5)), r: 5, class: "here" }));
}

/** Set the inputs to those of a sample that the reader selects by a click or the arrow keys. */
function pickPoints(plot, chosen, names) {
  const { host } = plot;
  const inOrder = () => [...points.X.keys()].sort((a, b) => points.Z[a][chosen.across] - points.Z[b][chosen.across] || a - b);
  const take = (i, order = inOrder()) => {
    update({ x: points.X[i] });
    byId("summary-status").textContent = sampleInWords(i, order.indexOf(i) + 1, names[chosen.across], chosen);
  };
  host.onclick = (event) => {
    const [px, py] = plot.pointer(event);
    const away = points.X.map((_, i) => {
      const place = positionOf(i, chosen);
      return place ? Math.hypot(plot.x(place[0]) - px, plot.y(place[1]) - py) : Infinity;
    });
    const nearest = away.reduce((best, value, i) => (value < away[best] ? i : best), 0);
    if (away[nearest] < 24) take(nearest);
  };
  host.onkeydown = (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const order = inOrder();
    const position = order.findIndex((i) => points.X[i] === state.x);
    const z = reduce(model, state.x)[chosen.across];
    const below = order.filter((i) => points.Z[i][chosen.across] < z).length;
    const next = position >= 0 ? position + move : below - (move < 0 ? 1 : 0);
    take(order[Math.min(order.length - 1, Math.max(0, next))], order);
  };
}

/** The message for screen readers after a sample was selected. */
function sampleInWords(i, place, name, { across }) {
  const output = content.outputs[state.output].name, y = points.Y?.[i][state.output];
  return `Inputs of sample ${place} of ${points.X.length} from the left: ${name} ${show(points.Z[i][across])}, `
    + (y === undefined ? "" : `${output} ${showOutput(y)}, `)
    + `median now ${showOutput(current().marginal(state.output).quantile(0.5))}.`;
}
