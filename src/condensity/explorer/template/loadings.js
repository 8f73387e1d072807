// Bars: the weights of the inputs in each direction, and the influence of each control.

const MOST_BARS = 12;

function buildLoadings() {
  const directions = content.loadings ?? [];
  const choices = [
    { name: "Influence", of: controls, values: controls.map(({ influence }) => influence), signed: false },
    ...directions.map((values, i) => ({ name: `Direction ${zName(i)}`, of: content.inputs, values, signed: true })),
  ];
  let all = false, chosen = 0;
  const more = byId("loadings-more");
  const draw = () => {
    const { of, values, signed } = choices[chosen];
    const order = [...values.keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
    const most = Math.max(...values.map(Math.abs)) || 1;
    const drawn = all ? order : order.slice(0, MOST_BARS);
    byId("loadings-list").replaceChildren(...drawn.map((j) => bar(of[j].name, values[j], most, signed)));
    more.hidden = values.length <= MOST_BARS;
    more.textContent = all ? `Show the ${MOST_BARS} largest` : `Show all ${values.length}`;
    byId("loadings-note").textContent = signed
      ? "Weight of each standardised input in this direction."
      : `How much of the density is moved, on average, when ${moves()}: 0 nothing, 1 all.`;
  };
  more.onclick = () => { all = !all; draw(); };
  fillSelect(byId("loadings-choice"), choices.map(({ name }) => ({ text: name })), 0, (i) => { chosen = i; draw(); });
  draw();
}

/** The moves behind the influence, for the kinds of controls on this page. */
function moves() {
  const lists = controls.some(({ labels }) => labels.length), switches = controls.some(({ flag }) => flag);
  const numbers = controls.some(({ labels, flag }) => !labels.length && !flag);
  const between = hasQuantiles ? "from its lower to its upper decile"
    : "from 1.28 standard deviations below its mean to 1.28 above";
  return [
    numbers && `an input goes ${between}`,
    switches && "a switch goes from 0 to 1",
    lists && "a list goes from its most frequent category to another",
  ].filter(Boolean).join(", or ");
}

function showLoading(value) {
  return value.toFixed(3).replace("-", "−");
}

function bar(name, value, most, signed) {
  const fill = element("span", { className: value < 0 ? "fill negative" : "fill" });
  const length = (Math.abs(value) / most) * (signed ? 50 : 100);
  fill.style.insetInlineStart = `${signed ? (value < 0 ? 50 - length : 50) : 0}%`;
  fill.style.width = `${length}%`;
  return element("li", {}, nameNode(name),
    element("span", { className: signed ? "track signed" : "track", "aria-hidden": "true" }, fill),
    element("span", { className: "value", textContent: showLoading(value) }));
}
