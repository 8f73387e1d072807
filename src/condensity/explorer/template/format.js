// Numbers and names as the reader sees them.  Names come from data: they are text, never markup.

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** z₁, z₂, ... */
function zName(index) {
  return "z" + [...String(index + 1)].map((digit) => SUBSCRIPTS[digit]).join("");
}

/** A number with a few significant digits, exponents only where they spare zeros. */
function show(value, digits = 4) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value), plain = size >= 1e-3 && size < 1e7;
  const text = plain
    ? String(Number(size < 10 ** digits ? value.toPrecision(digits) : value.toFixed(0)))
    : value.toExponential(Math.max(0, digits - 2)).replace("e", " e").replace("e+", "e");
  return text.replaceAll("-", "−");
}

/** A probability: digits at both ends of [0, 1]. */
function showProbability(value) {
  if (value > 0.9995 && value < 1 - 1e-12) return "> 0.999";
  if (value < 0.0005 && value > 0) return value.toExponential(1).replaceAll("-", "−");
  return value.toFixed(3);
}

/** Intervals, one a line. */
function showRegion(intervals) {
  return intervals.map(([a, b]) => `${show(a)} to ${show(b)}`).join("\n");
}

function shorten(name, length) {
  const letters = [...name];
  return letters.length <= length ? name : letters.slice(0, length - 1).join("") + "…";
}

/** A number as the user wrote it, or words that say what is wrong with it. */
function readNumber(text, { empty } = {}) {
  const trimmed = text.trim().replace("−", "-");
  if (trimmed === "" && empty !== undefined) return { value: empty };
  if (trimmed === "") return { error: "Write a number here, such as 3.5." };
  if (/^[-+]?\d+,\d+$/.test(trimmed)) {
    return { error: `Write ${trimmed.replace(",", ".")}, with a point for the decimals.` };
  }
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) {
    return { error: `“${shorten(trimmed, 24)}” is not a number: write one such as 3.5.` };
  }
  const value = Number(trimmed);
  if (Math.abs(value) > 1e100) return { error: "This number is too large for the model." };
  return { value };
}

/** Round numbers between low and high, about as many as asked for. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count), unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw * 0.999), out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    out.push(Number((i * step).toPrecision(12)));
  }
  return out;
}

/** An element with properties, attributes (`aria-…`, `data-…`, `for`, `role`) and children. */
function element(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (key in node && !key.includes("-")) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** A name from the data, kept to itself whatever its direction. */
function nameNode(name) {
  return element("bdi", { className: "name", title: name, textContent: name || "(no name)" });
}

function byId(id) {
  return document.getElementById(id);
}

/** A <select> filled with choices; `changed` hears of the index. */
function fillSelect(select, names, chosen, changed) {
  select.replaceChildren(...names.map((name, value) => element("option", {
    value, textContent: shorten(name, 40), selected: value === chosen,
  })));
  select.onchange = () => changed(Number(select.value));
}
