// The state of the page: the selections of the reader, and the listeners for changes.

const content = JSON.parse(byId("content").textContent);
const model = readModel(content.model);
const points = content.points && readPoints(content.points);
const { controls } = content; // each sets one input, or the inputs of one column of categories
const dx = content.inputs.length, dy = content.outputs.length;
const hasQuantiles = content.inputs.every(({ quantiles }) => quantiles); // else means and variances

const state = {
  x: content.typical, // the inputs
  output: 0, // index of the drawn output
  cumulative: false,
  level: 0.9, // of the shaded region
  cursor: null, // y at the cursor
  pins: { A: null, B: null },
  between: [-Infinity, Infinity],
};

const listeners = [];
let waiting = false;

function readPoints({ n, X, Y }) {
  const rows = (values, d) => Array.from({ length: n }, (_, i) => Array.from(values.subarray(i * d, (i + 1) * d)));
  const inputs = rows(decode(X), content.inputs.length);
  return {
    X: inputs,
    Y: Y && rows(decode(Y), content.outputs.length),
    Z: inputs.map((x) => reduce(model, x)),
  };
}

function onChange(listener) {
  listeners.push(listener);
}

/** Change the state and redraw once, before the next frame. */
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

/** The index of the selected category, or the number of categories if none is selected. */
function categoryOf({ inputs }, x) {
  const place = inputs.findIndex((index) => x[index] > 0.5);
  return place < 0 ? inputs.length : place;
}

function setCategory({ inputs }, chosen) {
  const x = [...state.x];
  inputs.forEach((index, place) => { x[index] = Number(place === chosen); });
  update({ x });
}

/** A value of an output, with enough digits for its range. */
function showOutput(value, output = state.output) {
  const { low, high } = content.outputs[output];
  return show(value, digitsFor(low, high));
}

/** A value of an input, with enough digits for its range; whole numbers are not rounded. */
function showInput(value, { low, high, whole }) {
  return whole ? grouped(exact(value)) : show(value, digitsFor(low, high));
}

let cached = null;

/** p(y|x) at the current inputs, computed once for each x. */
function current() {
  if (cached?.x !== state.x) cached = { x: state.x, distribution: new Distribution(model, state.x) };
  return cached.distribution;
}

function pin(name) {
  const { x } = state;
  update({ pins: { ...state.pins, [name]: state.pins[name] ? null : { x, distribution: current() } } });
}

/** The current density and the pinned ones, for the selected output. */
function shown() {
  const pinned = Object.entries(state.pins).filter(([, pinned]) => pinned);
  return [
    { name: "now", x: state.x, line: current().marginal(state.output) },
    ...pinned.map(([name, { x, distribution }]) => ({ name, x, line: distribution.marginal(state.output) })),
  ];
}
