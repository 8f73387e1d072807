// Calibration at test samples: the PIT histogram, and the coverage of regions.

function buildCalibration() {
  const results = content.calibration;
  if (!results) return;
  byId("calibration").hidden = false;
  const writeNote = () => {
    byId("calibration-note").textContent = `${results.n} test samples, mean log density ${show(results.log_score)}. `
      + `${coverageInWords(results)} Grey bands: where 95 % of samples of this size would fall if the densities were right.`;
  };
  writeNote();
  const plots = [
    new Plot(byId("pit-plot"), {}, (plot) => drawPit(plot, results)),
    new Plot(byId("coverage-plot"), {}, (plot) => drawCoverage(plot, results)),
  ];
  let output = state.output;
  onChange(() => {
    if (output !== state.output) { output = state.output; writeNote(); plots.forEach((plot) => plot.redraw()); }
  });
}

/** The content of the two plots in words, for readers who cannot see them. */
function coverageInWords({ outputs, nominal, band: [low, high] }) {
  const { central, highest, histogram } = outputs[state.output], percent = (share) => Math.round(100 * share);
  const levels = [0.5, 0.8, 0.9, 0.95], places = levels.map((q) => nominal.findIndex((p) => Math.abs(p - q) < 1e-9));
  const held = (shares) => places.map((i) => percent(shares[i])).join(", ");
  const outside = histogram.filter((height) => height < low || height > high).length;
  return `Of them, central intervals of ${levels.map(percent).join(", ")} % hold ${held(central)} %, `
    + `highest-density regions ${held(highest)} %; ${outside || "none"} of the ${histogram.length} bars `
    + `${outside === 1 ? "lies" : "lie"} outside the band.`;
}

function drawPit(plot, { outputs, band: [low, high] }) {
  const { histogram } = outputs[state.output], n = histogram.length;
  plot.span([0, 1], [0, 1.1 * Math.max(high, ...histogram)]);
  plot.axisY("relative frequency");
  plot.area([[0, high], [1, high]], low, "band");
  histogram.forEach((height, i) => {
    const [x0, x1] = [plot.x(i / n) + 1, plot.x((i + 1) / n) - 1], y = plot.y(height);
    const outside = height < low || height > high;
    plot.base.append(mark("rect", {
      x: x0, y, width: x1 - x0, height: plot.bottom - y, class: outside ? "bar outside" : "bar",
    }));
  });
  plot.line(plot.left, plot.y(1), plot.right, plot.y(1), "reference");
  plot.axisX("PIT, F(y|x)", [0, 0.25, 0.5, 0.75, 1]);
}

function drawCoverage(plot, { outputs, nominal, nominal_band: [low, high] }) {
  const { central, highest } = outputs[state.output];
  plot.span([0, 1], [0, 1]);
  plot.axisY("share of samples inside", [0, 0.25, 0.5, 0.75, 1]);
  const up = nominal.map((q, i) => [q, high[i]]), down = nominal.map((q, i) => [q, low[i]]);
  plot.base.append(mark("path", { d: `${plot.trace([...up, ...down.reverse()])}Z`, class: "band" }));
  plot.path([[0, 0], [1, 1]], "reference");
  plot.path(nominal.map((q, i) => [q, highest[i]]), "coverage highest");
  plot.path(nominal.map((q, i) => [q, central[i]]), "coverage central");
  plot.axisX("nominal probability", [0, 0.25, 0.5, 0.75, 1]);
}
