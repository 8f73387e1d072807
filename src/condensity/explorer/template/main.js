// Build all panels, and give the browser's console access to the numbers of the page.

function buildHead() {
  const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const [, kind] = content.facts[0], facts = Object.fromEntries(content.facts);
  const parts = [kind, `${count(controls.length, "input")} to ${count(dy, "output")}`];
  if (model.summary) parts.push(count(model.summary.offset.length, "direction"));
  if (facts["Training samples"]) parts.push(`${facts["Training samples"]} training samples`);
  byId("title").replaceChildren(element("bdi", { textContent: content.title }));
  byId("subtitle").textContent = parts.join(" · ");
  byId("facts").replaceChildren(...content.facts.map(([name, value]) => element("div", {},
    element("dt", { textContent: name }), element("dd", {}, element("bdi", { textContent: value })))));
}

function buildControls() {
  byId("output-choice").hidden = dy < 2;
  fillSelect(byId("output"), content.outputs.map(({ name }) => named(name)), 0, (output) => {
    update({ output, cursor: null });
    nameOutput();
  });
  for (const button of document.querySelectorAll("[data-cumulative]")) {
    button.onclick = () => {
      const cumulative = button.dataset.cumulative === "true";
      for (const one of document.querySelectorAll("[data-cumulative]")) one.setAttribute("aria-pressed", String(one === button));
      update({ cumulative });
    };
  }
  byId("level").onchange = ({ target }) => {
    byId("legend-region").textContent = `${Math.round(100 * target.value)} % region`;
    update({ level: Number(target.value) });
  };
  nameOutput();
}

function nameOutput() {
  const { name } = content.outputs[state.output];
  byId("curve").setAttribute("aria-label", `Density of ${name} at these inputs. Arrow keys read the curve.`);
  byId("between-name").replaceChildren(element("bdi", { textContent: shorten(name, 24) }));
  byId("stage-title").replaceChildren("What ", titleName(name), " may be");
  byId("numbers-title").replaceChildren(titleName(name), " in numbers");
  if (dy > 1) return; // the other panels are about all outputs
  byId("loadings-title").replaceChildren("What counts for ", titleName(name));
  byId("calibration-title").replaceChildren("Calibration of ", titleName(name));
}

/** The name of an output inside a title, cut to a line. */
function titleName(name) {
  return element("bdi", { title: name, textContent: shorten(name, 22) });
}

/** Light or dark: the setting of the system until the reader uses the button. */
function buildTheme() {
  const button = byId("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const setLabel = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  button.onclick = () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; setLabel(); };
  dark.onchange = setLabel;
  setLabel();
}

for (const build of [
  buildHead, buildControls, buildTheme, buildInputs, buildCurve, buildReadings,
  buildSummary, buildPair, buildLoadings, buildCalibration,
]) build();

// These functions are documented in docs/explorer.md.
window.condensity = Object.freeze({
  at: (x) => new Distribution(model, x),
  pdf: (x, y) => new Distribution(model, x).pdf(y),
  regions: (x, i, j, levels) => pairRegions(new Distribution(model, x), i, j, levels),
  reduce: (x) => reduce(model, x),
  normalCdf,
  inputs: () => [...state.x],
  set: (x) => update({ x: [...x] }),
});
