// A plot: axes and marks in SVG.  The style sheet gives the colours, so a theme needs no redraw.

const SVG = "http://www.w3.org/2000/svg";

function mark(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function longest(texts) {
  return Math.max(0, ...texts.map((text) => text.length));
}

class Plot {
  /** `draw(plot)` draws everything; it is called again when the size changes. */
  constructor(host, margins, draw) {
    this.host = host;
    this.margins = { top: 30, right: 12, bottom: 40, left: 46, ...margins };
    this.svg = mark("svg", { "aria-hidden": "true", focusable: "false" });
    this.base = mark("g", {});
    this.live = mark("g", {});
    this.svg.append(this.base, this.live);
    host.append(this.svg);
    this.draw = draw;
    new ResizeObserver(() => this.resized()).observe(host);
  }

  resized() {
    if (this.host.clientWidth !== this.width || this.host.clientHeight !== this.height) this.redraw();
  }

  redraw() {
    this.width = this.host.clientWidth;
    this.height = this.host.clientHeight;
    if (!this.width || !this.height) return; // not shown
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.base.replaceChildren();
    this.draw(this);
  }

  /** Set the ranges of the axes. */
  span([x0, x1], [y0, y1]) {
    const { top, right, bottom } = this.margins;
    this.ends = { x0, x1, y0, y1 };
    this.top = top;
    this.bottom = this.height - bottom;
    // Numbers with many digits need space at the left of the plot and at its right end.
    const left = Math.max(this.margins.left, 10 + 7 * longest(this.heights().map((value) => this.formatY(value))));
    this.letters = longest(ticks(x0, x1, 4).map((value) => this.formatX(value)));
    this.left = left;
    this.right = this.width - Math.max(right, 3.5 * this.letters - 4);
    this.x = (value) => left + ((value - x0) / (x1 - x0)) * (this.right - left);
    this.y = (value) => this.bottom - ((value - y0) / (y1 - y0)) * (this.bottom - top);
    this.valueAt = (pixel) => x0 + ((pixel - left) / (this.right - left)) * (x1 - x0);
    this.heightAt = (pixel) => y0 + ((this.bottom - pixel) / (this.bottom - top)) * (y1 - y0);
  }

  /** Numbers at the vertical axis. */
  heights() {
    return ticks(this.ends.y0, this.ends.y1, Math.max(2, (this.bottom - this.top) / 50));
  }

  formatY(value) {
    const { y0, y1 } = this.ends;
    return show(value / 10 ** axisPower(y0, y1), digitsFor(y0, y1, 3));
  }

  formatX(value) {
    const { x0, x1 } = this.ends;
    return show(value / 10 ** axisPower(x0, x1), digitsFor(x0, x1));
  }

  /** The label of an axis between two ends, with the unit of its numbers, cut to the room. */
  label(x, y, words, style, pixels, low, high) {
    const power = axisPower(low, high), unit = power ? `, in units of ${tenTo(power)}` : "";
    this.text(x, y, shorten(words, Math.floor(pixels / 7.5) - unit.length) + unit, style, words + unit);
  }

  axisX(label, values) {
    const { x0, x1 } = this.ends, room = Math.max(75, 9 * this.letters);
    const places = values ?? ticks(x0, x1, Math.max(2, (this.right - this.left) / room));
    this.line(this.left, this.bottom, this.right, this.bottom, "axis");
    for (const value of places) {
      this.line(this.x(value), this.bottom, this.x(value), this.bottom + 4, "axis");
      this.text(this.x(value), this.bottom + 19, this.formatX(value), "tick middle");
    }
    this.label((this.left + this.right) / 2, this.height - 4, label, "label middle", this.right - this.left, x0, x1);
  }

  axisY(label, values) {
    for (const value of values ?? this.heights()) {
      this.line(this.left, this.y(value), this.right, this.y(value), "grid");
      this.text(this.left - 8, this.y(value) + 4, this.formatY(value), "tick end");
    }
    // Above the axis, so that the text is horizontal.
    this.label(0, 14, label, "label", this.width, this.ends.y0, this.ends.y1);
  }

  line(x0, y0, x1, y1, style, layer = this.base) {
    layer.append(mark("line", { x1: x0, y1: y0, x2: x1, y2: y1, class: style }));
  }

  text(x, y, words, style, title, layer = this.base) {
    const node = mark("text", { x, y, class: style }, words);
    if (title && title !== words) node.append(mark("title", {}, title));
    layer.append(node);
    return node;
  }

  dot(x, y, r, style, layer = this.base) {
    layer.append(mark("circle", { cx: this.x(x), cy: this.y(y), r, class: style }));
  }

  /** A line through points [x, y] in the units of the axes. */
  path(points, style, layer = this.base) {
    layer.append(mark("path", { d: this.trace(points), class: style }));
  }

  /** The area between points and the horizontal line at `floor`. */
  area(points, floor, style, layer = this.base) {
    const closed = [[points[0][0], floor], ...points, [points.at(-1)[0], floor]];
    layer.append(mark("path", { d: `${this.trace(closed)}Z`, class: style }));
  }

  trace(points) {
    return "M" + points.map(([x, y]) => `${this.x(x).toFixed(2)},${this.y(y).toFixed(2)}`).join("L");
  }

  /** The position of a pointer in pixels of the plot. */
  pointer(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}
