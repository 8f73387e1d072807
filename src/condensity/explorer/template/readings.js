// The table of numbers: the current density and the pinned ones side by side.

function buildReadings() {
  onChange(drawReadings);
  drawReadings();
  for (const name of ["A", "B"]) byId(`pin-${name}`).onclick = () => pin(name);
  const fields = [byId("from"), byId("to")], note = byId("between-note");
  const read = () => {
    const ends = [readNumber(fields[0].value, { empty: -Infinity }), readNumber(fields[1].value, { empty: Infinity })];
    ends.forEach(({ error }, i) => fields[i].setAttribute("aria-invalid", String(Boolean(error))));
    const error = ends.find((one) => one.error)?.error;
    const [a, b] = ends.map(({ value }) => value);
    const crossed = !error && a > b ? `${showOutput(a)} is above ${showOutput(b)}: write the smaller number first.` : "";
    note.textContent = error ?? crossed;
    update({ between: error || crossed ? null : [a, b] });
  };
  fields.forEach((field) => { field.oninput = read; });
}

function drawReadings() {
  const all = shown();
  for (const name of ["A", "B"]) {
    const pinned = Boolean(state.pins[name]), button = byId(`pin-${name}`);
    button.setAttribute("aria-pressed", String(pinned));
    button.textContent = pinned ? `Unpin ${name}` : `Pin ${name}`;
  }
  const percent = Math.round(100 * state.level);
  const rows = [
    ["Mean", ({ line }) => showOutput(line.mean())],
    ["Standard deviation", ({ line }) => show(line.sd())],
    ["Median", ({ line }) => showOutput(line.quantile(0.5))],
    ["5 % and 95 % quantile", ({ line }) => `${showOutput(line.quantile(0.05))}, ${showOutput(line.quantile(0.95))}`],
    [`${percent} % region`, ({ line }) => showRegion(line.hdr(state.level), showOutput)],
    ["Highest modes", ({ line }) => line.modes().slice(0, 3).map((y) => showOutput(y)).join(", ")],
  ];
  if (state.between) {
    const [a, b] = state.between;
    if (a > -Infinity || b < Infinity) rows.push([`P(${showOutput(a)} < y ≤ ${showOutput(b)})`, ({ line }) => showProbability(line.prob(a, b))]);
  }
  byId("between-answer").textContent = state.between
    ? showProbability(all[0].line.prob(...state.between)) : "–";
  const body = rows.map(([label, read]) => element("tr", {},
    element("th", { scope: "row", textContent: label }),
    ...all.map((one) => element("td", { textContent: read(one) }))));
  byId("readings-head").replaceChildren(element("td"), ...all.map(columnHead));
  byId("readings-body").replaceChildren(...body, ...differences(all));
  byId("readings").classList.toggle("several", all.length > 1);
}

/** The head of a column; for a pinned point, a button that sets its inputs. */
function columnHead({ name, x }) {
  const head = element("th", { scope: "col" });
  if (name === "now") head.append("Now");
  else {
    head.append(element("button", {
      type: "button", className: `swatch swatch-${name}`, textContent: name,
      title: `Set the inputs to those of ${name}`, "aria-label": `Set the inputs to those of ${name}`,
      onclick: () => update({ x }),
    }));
  }
  return head;
}

/** The difference of points in a control, in units of its spread; 1 for two categories. */
function apart({ inputs, labels }, all) {
  if (labels.length) return Number(inputs.some((index) => new Set(all.map(({ x }) => x[index])).size > 1));
  const values = all.map(({ x }) => x[inputs[0]]), { low, high, quantiles } = content.inputs[inputs[0]];
  const half = quantiles ? quantiles[3] - quantiles[1] : (high - low) / 4;
  return (Math.max(...values) - Math.min(...values)) / (half || high - low || 1);
}

function valueNode(control, x) {
  const [index] = control.inputs;
  if (!control.labels.length) return showInput(x[index], content.inputs[index]);
  return nameNode(control.labels[categoryOf(control, x)] ?? NO_CATEGORY);
}

/** Rows for the inputs in which the points differ most, in units of their spread. */
function differences(all) {
  if (all.length < 2) return [];
  const differing = controls.map((control) => ({ control, apart: apart(control, all) }))
    .filter((one) => one.apart > 0).sort((a, b) => b.apart - a.apart);
  const rows = differing.slice(0, 5).map(({ control }) => element("tr", { className: "input-row" },
    element("th", { scope: "row" }, nameNode(control.name)),
    ...all.map(({ x }) => element("td", {}, valueNode(control, x)))));
  const title = differing.length > 5 ? `Inputs that differ most (5 of ${differing.length})` : "Inputs that differ";
  if (rows.length) {
    rows.unshift(element("tr", { className: "rule" },
      element("th", { colSpan: all.length + 1, scope: "rowgroup", textContent: title })));
  }
  return rows;
}
