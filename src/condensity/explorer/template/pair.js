// Two outputs together: regions of their joint density that hold 50, 80 and 95 %.

const PAIR_LEVELS = [0.95, 0.8, 0.5];

function buildPair() {
  if (dy < 2) return;
  byId("pair").hidden = false;
  const names = told.outputs.map((output) => output.name), chosen = [0, 1];
  const plot = new Plot(byId("pair-plot"), { left: 54 }, (own) => drawPair(own, chosen));
  ["pair-across", "pair-up"].forEach((id, k) => {
    fillSelect(byId(id), names, chosen[k], (index) => {
      if (chosen[1 - k] === index) { // swap, so that the two stay different
        chosen[1 - k] = chosen[k];
        byId(k ? "pair-across" : "pair-up").value = chosen[1 - k];
      }
      chosen[k] = index;
      plot.redraw();
    });
  });
  onChange(() => plot.redraw());
}

function drawPair(plot, [i, j]) {
  const all = [["now", current()], ...Object.entries(state.pins)
    .filter(([, pinned]) => pinned).map(([name, pinned]) => [name, pinned.distribution])];
  const spans = [i, j].map((k) => outputSpan(all.map(([, d]) => d.marginal(k)), k));
  plot.span(...spans);
  plot.axisY(told.outputs[j].name);
  plot.axisX(told.outputs[i].name);
  for (const y of points?.Y ?? []) {
    const inside = [i, j].every((k, m) => y[k] >= spans[m][0] && y[k] <= spans[m][1]);
    if (inside) plot.dot(y[i], y[j], 2, "sample faint");
  }
  for (const [name, distribution] of all) {
    const grid = sampleGrid(distribution.pair(i, j), ...windowOf(distribution, i, j, spans), 56);
    for (const level of name === "now" ? PAIR_LEVELS : [0.8]) {
      const lines = joined(contour(grid, heightOf(grid, level)));
      const d = lines.map((line) => plot.trace(line)).join("");
      plot.base.append(mark("path", { d, class: name === "now" ? `contour level-${Math.round(100 * level)}` : `curve pin-${name}` }));
    }
  }
  plot.dot(current().marginal(i).mean(), current().marginal(j).mean(), 4.5, "mean");
}

/** The part of the plot that a density takes up: a grid there shows narrow ones too. */
function windowOf(distribution, i, j, spans) {
  return [i, j].map((k, m) => {
    const line = distribution.marginal(k), [low, high] = [line.quantile(0.002), line.quantile(0.998)];
    const pad = 0.1 * (high - low), { lower = -Infinity, upper = Infinity } = line.map ?? {};
    return [Math.max(spans[m][0], low - pad, lower), Math.min(spans[m][1], high + pad, upper)];
  });
}
