// The controls of the inputs, the most influential first, with a search by name.

const FEW = 12; // inputs shown at first
const NO_CATEGORY = "none of these", NO_EFFECT = "Constant in the training data: it has no effect.";
const FITTING = 22, FITTING_BROAD = 38; // letters that fit into a closed list, beside its label and below it

function buildInputs() {
  const list = byId("input-list"), rows = controls.map(controlRow), count = rows.length;
  list.append(...rows.map((row) => row.node));
  const filter = byId("input-filter"), more = byId("input-more"), none = byId("input-none");
  let all = count <= FEW;
  const arrange = () => {
    const wanted = filter.value.trim().toLocaleLowerCase();
    let hits = 0;
    rows.forEach((row, place) => {
      const matches = row.name.toLocaleLowerCase().includes(wanted);
      row.node.hidden = !matches || !(all || wanted || place < FEW);
      hits += matches;
    });
    none.hidden = hits > 0;
    more.hidden = count <= FEW || Boolean(wanted);
    more.textContent = all ? `Show the ${FEW} most influential` : `Show all ${count} inputs`;
    more.setAttribute("aria-expanded", String(all));
  };
  filter.oninput = arrange;
  more.onclick = () => { all = !all; arrange(); };
  byId("input-search").hidden = count <= 6;
  list.parentElement.classList.toggle("short", count <= 6);
  byId("typical").title = `${hasQuantiles ? "Medians" : "Means"}, and the most frequent categories`;
  byId("typical").onclick = () => update({ x: content.typical });
  const random = byId("random-row");
  random.hidden = !points;
  random.onclick = () => update({ x: points.X[Math.floor(Math.random() * points.X.length)] });
  arrange();
  onChange(() => rows.forEach((row) => row.show()));
  rows.forEach((row) => row.show());
}

/** A round step of about 1/200 of the range; at least 1 for whole numbers. */
function stepOf({ low, high, whole }) {
  const raw = (high - low) / 200, unit = 10 ** Math.floor(Math.log10(raw));
  if (whole && raw < 2) return 1;
  return Number((unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw)).toPrecision(3));
}

function controlRow(control) {
  const [index] = control.inputs, id = `input-${index}`;
  const label = element("label", { htmlFor: id, id: `${id}-label` }, nameNode(control.name));
  const row = control.labels.length ? choiceRow(control, id, label)
    : control.flag ? switchRow(index, id, label) : numberRow(control, id, label);
  return { ...row, name: [control.name, ...control.labels].join(" ") };
}

function showShare(share) {
  if (share === 0) return "not in the training data";
  if (share < 0.005) return "under 1 %";
  return share > 0.995 && share < 1 - 1e-9 ? "over 99 %" : `${Math.round(100 * share)} %`;
}

/** A list for a column of categories, with the choice of none. */
function choiceRow(control, id, label) {
  const { labels, shares, constant } = control;
  const select = element("select", { id, disabled: constant, "aria-describedby": `${id}-note` });
  const choices = [...labels.map((name, i) => named(name, ` · ${showShare(shares[i])}`)), { text: NO_CATEGORY }];
  fillSelect(select, choices, 0, (chosen) => setCategory(control, chosen));
  const note = element("p", { id: `${id}-note`, className: "note", textContent: constant ? NO_EFFECT : "" });
  const broad = choices.some(({ text }) => text.length > FITTING);
  return {
    node: element("li", { className: broad ? "input choice broad" : "input choice" }, label, select, note),
    show() {
      const chosen = categoryOf(control, state.x);
      select.value = chosen;
      updateTitle(select);
      const { text } = choices[chosen]; // repeated below if the closed list would cut it
      if (!constant) note.textContent = text.length > FITTING_BROAD ? text : "";
    },
  };
}

/** A switch for an input that is 0 or 1. */
function switchRow(index, id, label) {
  const box = element("input", { id, type: "checkbox", role: "switch", "aria-describedby": `${id}-value` });
  const value = element("output", { htmlFor: id, id: `${id}-value` });
  box.onchange = () => setInput(index, Number(box.checked));
  return {
    node: element("li", { className: "input flag" }, label, element("span", {}, value, box)),
    show() {
      const x = state.x[index], neither = x !== 0 && x !== 1;
      box.checked = x > 0.5;
      box.classList.toggle("neither", neither);
      value.textContent = neither ? `${exact(x)}, neither 0 nor 1` : exact(x);
    },
  };
}

/** A slider and a field for other inputs. */
function numberRow({ inputs: [index], constant }, id, label) {
  const input = content.inputs[index];
  const field = element("input", {
    id, type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
    disabled: constant, "aria-describedby": `${id}-note`,
  });
  const note = element("p", { id: `${id}-note`, className: "note", role: "status" });
  const step = constant ? 1 : stepOf(input);
  const slider = element("input", {
    type: "range", min: input.low, max: input.high, step: "any",
    disabled: constant, "aria-labelledby": `${id}-label`,
  });
  const node = element("li", { className: "input" }, label, field, slider, ...spread(input), note);
  let shown = null;

  slider.oninput = () => setInput(index, snap(Number(slider.value)));
  slider.onkeydown = (event) => {
    const moves = {
      ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step,
      PageUp: 10 * step, PageDown: -10 * step, Home: -Infinity, End: Infinity,
    };
    if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const moved = state.x[index] + moves[event.key];
    setInput(index, Math.min(input.high, Math.max(input.low, round(moved))));
  };
  const round = (value) => (Number.isFinite(value) ? Number((Math.round(value / step) * step).toPrecision(12)) : value);
  const snap = (value) => Math.min(input.high, Math.max(input.low, round(value)));
  field.oninput = () => {
    const { value, error } = readNumber(field.value);
    showNote(error ?? rangeNote(value), Boolean(error));
    if (!error) { shown = value; setInput(index, value); }
  };
  field.onblur = () => { if (field.getAttribute("aria-invalid") !== "true") write(); };

  const showNote = (words, wrong) => {
    note.textContent = words;
    note.classList.toggle("error", wrong);
    field.setAttribute("aria-invalid", String(wrong));
  };
  const rangeNote = (value) => {
    if (constant) return NO_EFFECT;
    if (value >= input.low && value <= input.high) return "";
    if (!input.known) return "More than three standard deviations from the mean of the training data.";
    return `Beyond the training data, ${showInput(input.low, input)} to ${showInput(input.high, input)}.`;
  };
  const write = () => { field.value = field.title = exact(state.x[index]); };
  return {
    node,
    show() {
      const value = state.x[index];
      slider.value = value;
      slider.setAttribute("aria-valuetext", showInput(value, input));
      if (value === shown) return;
      shown = value;
      write();
      showNote(rangeNote(value), false);
    },
  };
}

/** Marks of the training data under a slider, if known: 5 to 95 %, 25 to 75 %, the median. */
function spread(input) {
  if (!input.quantiles) return [];
  const at = (value) => `${(100 * (value - input.low)) / (input.high - input.low || 1)}%`;
  const [q5, q25, q50, q75, q95] = input.quantiles, format = (value) => showInput(value, input);
  const bar = (name, from, to) => {
    const part = element("span", { className: name });
    part.style.insetInlineStart = at(from);
    part.style.insetInlineEnd = `calc(100% - ${at(to)})`;
    return part;
  };
  return [element("div", {
    className: "spread", "aria-hidden": "true",
    title: `median ${format(q50)}, half of the data ${format(q25)} to ${format(q75)}, 90 % ${format(q5)} to ${format(q95)}`,
  }, bar("wide", q5, q95), bar("half", q25, q75), bar("median", q50, q50))];
}
