// What the reader has chosen, and who is to be told when it changes.

const told = JSON.parse(byId("content").textContent);
const model = readModel(told.model);
const points = told.points && readPoints(told.points);
const { controls } = told; // what the reader sets: an input each, or the inputs of categories
const dx = told.inputs.length, dy = told.outputs.length;
const sampled = told.inputs.every(({ quantiles }) => quantiles); // or only means and variances known

const state = {
  x: told.typical, // the inputs
  output: 0, // whose density is drawn
  cumulative: false,
  level: 0.9, // of the region that is shaded
  cursor: null, // y that is read out
  pins: { A: null, B: null },
  between: [-Infinity, Infinity],
};

const listeners = [];
let waiting = false;

function readPoints({ n, X, Y }) {
  const rows = (values, d) => Array.from({ length: n }, (_, i) => Array.from(values.subarray(i * d, (i + 1) * d)));
  const inputs = rows(decode(X), told.inputs.length);
  return {
    X: inputs,
    Y: Y && rows(decode(Y), told.outputs.length),
    Z: inputs.map((x) => reduce(model, x)),
  };
}

function onChange(listener) {
  listeners.push(listener);
}

/** Change something and redraw once, before the next frame. */
function update(changes) {
  Object.assign(state, changes);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    listeners.forEach((listener) => listener());
  });
}

function setInput(index, value) {
  update({ x: state.x.map((old, j) => (j === index ? value : old)) });
}

/** The place of the category that is chosen, one beyond the last where none of them is. */
function categoryOf({ inputs }, x) {
  const place = inputs.findIndex((index) => x[index] > 0.5);
  return place < 0 ? inputs.length : place;
}

function setCategory({ inputs }, chosen) {
  const x = [...state.x];
  inputs.forEach((index, place) => { x[index] = Number(place === chosen); });
  update({ x });
}

/** A value of an output, with the digits that tell such values apart. */
function showOutput(value, output = state.output) {
  const { low, high } = told.outputs[output];
  return show(value, digitsFor(low, high));
}

/** A value of an input, likewise; whole numbers are shown as they are. */
function showInput(value, { low, high, whole }) {
  return whole ? exact(value).replace("-", "−") : show(value, digitsFor(low, high));
}

let answer = null;

/** p(y|x) at the inputs chosen, computed once for each x. */
function current() {
  if (answer?.x !== state.x) answer = { x: state.x, distribution: new Distribution(model, state.x) };
  return answer.distribution;
}

function pin(name) {
  const { x } = state;
  update({ pins: { ...state.pins, [name]: state.pins[name] ? null : { x, distribution: current() } } });
}

/** What is shown side by side: the current density, then those that are pinned. */
function shown() {
  const pinned = Object.entries(state.pins).filter(([, pinned]) => pinned);
  return [
    { name: "now", x: state.x, line: current().marginal(state.output) },
    ...pinned.map(([name, { x, distribution }]) => ({ name, x, line: distribution.marginal(state.output) })),
  ];
}
