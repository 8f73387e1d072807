// Numbers and names as text.  Names come from data, so they are never used as markup.

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉", SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const MOST_LETTERS = 200; // of a name in a list, so that a list is not wider than the screen

/** z₁, z₂, ... */
function zName(index) {
  return "z" + [...String(index + 1)].map((digit) => SUBSCRIPTS[digit]).join("");
}

/** Significant digits that distinguish numbers between low and high, `least` or more. */
function digitsFor(low, high, least = 4) {
  const ratio = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
  return ratio < Infinity ? Math.min(15, least + Math.max(0, Math.round(Math.log10(ratio)))) : least;
}

/** A number with a few significant digits; very large and very small ones with a power of ten. */
function show(value, digits = 4) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value), plain = size >= 1e-4 && size < Math.max(1e9, 10 ** digits);
  const rounded = Number(plain && size >= 10 ** digits ? value.toFixed(0) : value.toPrecision(digits));
  return plain ? grouped(String(rounded)) : withPower(rounded.toExponential());
}

/** Digits before the point in groups of three if there are five or more, and a true minus. */
function grouped(text) {
  const [whole, decimals] = text.split(".");
  const digits = whole.replace(/\d{5,}/, (all) => all.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
  return (decimals ? `${digits}.${decimals}` : digits).replace("-", "−");
}

/** "2e-5" as 2·10⁻⁵. */
function withPower(text) {
  const [front, power] = text.split("e");
  return `${front.replace("-", "−")}·${tenTo(Number(power))}`;
}

function tenTo(power) {
  return `10${power < 0 ? "⁻" : ""}${[...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[digit]).join("")}`;
}

/** The power of ten in which an axis counts: 0 unless its numbers need one. */
function axisPower(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return size >= 1e-3 && size < 1e9 || !(size > 0) ? 0 : Math.floor(Math.log10(size));
}

/** A number for an input field: twelve digits, which hides rounding errors. */
function exact(value) {
  const rounded = Number(value.toPrecision(12));
  return Math.abs(value) < 1e15 ? String(rounded) : rounded.toExponential().replace("e+", "e");
}

/** A probability, with enough digits near 0 and near 1. */
function showProbability(value) {
  if (value > 0.9995 && value < 1 - 1e-12) return "> 0.999";
  if (value < 0.0005 && value > 0) return withPower(value.toExponential(1));
  return value.toFixed(3);
}

/** Intervals, one per line; `format` shows a number. */
function showRegion(intervals, format) {
  return intervals.map(([a, b]) => `${format(a)} to ${format(b)}`).join("\n");
}

function shorten(name, length) {
  const letters = [...name];
  return letters.length <= length ? name : letters.slice(0, length - 1).join("") + "…";
}

/** The number in a text, or a message about what is wrong with the text. */
function readNumber(text, { empty } = {}) {
  const trimmed = text.trim().replace("−", "-").replace(/(?<=\d)[\s\u202f](?=\d{3})/g, "");
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

/** Round numbers between low and high, about `count`, and two or more if possible. */
function ticks(low, high, count) {
  const values = roundNumbers(low, high, count);
  if (values.length > 1) return values;
  const finer = roundNumbers(low, high, 2.5 * count), half = Math.ceil(finer.length / 2);
  return finer.filter((_, i) => i % half === 0);
}

function roundNumbers(low, high, count) {
  const raw = (high - low) / Math.max(1, count), unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= raw * 0.999), out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    out.push(Number((i * step).toPrecision(15)));
  }
  return out;
}

/** An element with properties, attributes (`aria-…`, `data-…`, `for`, `role`) and children. */
function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node && !key.includes("-")) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** A name from the data in an element that isolates its writing direction. */
function nameNode(name) {
  return element("bdi", { className: "name", title: name, textContent: name || "(no name)" });
}

/** A name as text for an option: at most `MOST_LETTERS` letters, between marks that isolate its
 * writing direction.  Marks inside the name are removed, because they could end the isolation. */
function isolated(name) {
  return `\u2068${shorten(withoutMarks(name), MOST_LETTERS) || "(no name)"}\u2069`;
}

function withoutMarks(name) {
  return name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
}

/** A choice for `fillSelect`: a name from the data, with words of the page after it. */
function named(name, words = "") {
  return { text: isolated(name) + words, title: withoutMarks(name) + words };
}

function byId(id) {
  return document.getElementById(id);
}

/** Fill a <select> with choices of a text and a title; `changed` is called with the index. */
function fillSelect(select, choices, chosen, changed) {
  select.replaceChildren(...choices.map(({ text, title = text }, value) => element("option", {
    value, textContent: text, title, selected: value === chosen,
  })));
  select.onchange = () => { updateTitle(select); changed(Number(select.value)); };
  updateTitle(select);
}

/** Show the whole selected text as the title of a <select>, which may cut it. */
function updateTitle(select) {
  select.title = select.selectedOptions[0]?.title ?? "";
}
