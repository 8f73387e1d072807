// Two outputs together: highest-density regions of their joint density, 50, 80 and 95 %.

const PAIR_LEVELS = [0.95, 0.8, 0.5];

function buildPair() {
  if (dy < 2) return;
  byId("pair").hidden = false;
  const chosen = [0, 1];
  const plot = new Plot(byId("pair-plot"), { left: 54 }, (target) => drawPair(target, chosen));
  ["pair-across", "pair-up"].forEach((id, k) => {
    fillSelect(byId(id), content.outputs.map(({ name }) => named(name)), chosen[k], (index) => {
      if (chosen[1 - k] === index) { // swap, so that the two axes differ
        chosen[1 - k] = chosen[k];
        const other = byId(k ? "pair-across" : "pair-up");
        other.value = chosen[1 - k];
        updateTitle(other);
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
  plot.axisY(content.outputs[j].name);
  plot.axisX(content.outputs[i].name);
  for (const y of points?.Y ?? []) {
    const inside = [i, j].every((k, m) => y[k] >= spans[m][0] && y[k] <= spans[m][1]);
    if (inside) plot.dot(y[i], y[j], 2, "sample faint");
  }
  for (const [name, distribution] of all) {
    const levels = name === "now" ? PAIR_LEVELS : [0.8];
    pairRegions(distribution, i, j, levels).forEach((lines, k) => {
      const d = lines.map((line) => plot.trace(line)).join("");
      const style = name === "now" ? `contour level-${Math.round(100 * levels[k])}` : `curve pin-${name}`;
      plot.base.append(mark("path", { d, class: style }));
    });
  }
  plot.dot(current().marginal(i).mean(), current().marginal(j).mean(), 4.5, "mean");
}

/** For each level, the border of the smallest region of outputs i and j with this probability.
 *
 * The grid has the unbounded coordinate u and t = v - slope u, the residual of the other output.
 * If one output almost determines the other, the density is a narrow ridge; the ridge is parallel
 * to the u axis in these coordinates.
 */
function pairRegions(distribution, i, j, levels) {
  const mixture = marginalMixture(dropLight(distribution.mixture, 1e-9), [i, j]);
  const maps = [distribution.maps[i], distribution.maps[j]];
  const { slope, across, residual } = sheared(mixture);
  const grid = sampleGrid((u, t) => {
    const v = t + slope * u, p = jointPdf(mixture, [u, v]);
    return [p * volume(maps[0], u) * volume(maps[1], v), p];
  }, reachOf(across), reachOf(residual), 60);
  const place = ([u, t]) => [toBounded(maps[0], u), toBounded(maps[1], t + slope * u)];
  return levels.map((level) => joinSegments(contour(grid, heightOf(grid, level))).map((line) => line.map(place)));
}

/** The slope of the regression of v on u, and the distributions of u and of v - slope u. */
function sheared({ weights, means, groups }) {
  const mean = mixtureMean({ dy: 2, weights, means }), covariances = groups.map(({ factor }) => covarianceOf(factor, 2, [0, 1]));
  let uu = 0, uv = 0;
  groups.forEach(({ start, end }, g) => {
    for (let k = start; k < end; k++) {
      const a = means[2 * k] - mean[0], b = means[2 * k + 1] - mean[1];
      uu += weights[k] * (covariances[g][0] + a * a);
      uv += weights[k] * (covariances[g][1] + a * b);
    }
  });
  const slope = uv / uu;
  const combination = (c, d) => { // the distribution of c u + d v
    const projected = groups.map((group, g) => {
      const [S00, S01, , S11] = covariances[g];
      return { ...group, factor: [Math.sqrt(c * c * S00 + 2 * c * d * S01 + d * d * S11)] };
    });
    return Line.of({ weights, means: weights.map((_, k) => c * means[2 * k] + d * means[2 * k + 1]), groups: projected }, null);
  };
  return { slope, across: combination(1, 0), residual: combination(-slope, 1) };
}

/** A range that contains nearly all of a distribution. */
function reachOf(line) {
  const [low, high] = [line.quantile(0.002), line.quantile(0.998)], pad = 0.1 * (high - low);
  return [low - pad, high + pad];
}
