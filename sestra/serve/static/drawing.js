// States drawn with the server's shapes; parts that come, go or move do so visibly.

import { calm, makeSvg, percent } from "./dom.js";

const EASE = "cubic-bezier(0.2, 0.7, 0.2, 1)";
const COMES = 340;
const GOES = 260;
/** Pixels on the page per unit of a drawing, at most. */
const WIDEST = 1.25;

const paint = ({ fill, line, thickness }) => ({ fill: fill ?? "none", stroke: line, "stroke-width": line ? thickness : null });

/** A shape of the server's as an SVG element. */
export function shape(plain) {
  switch (plain.kind) {
    case "box":
      return box(plain);
    case "disc":
      return makeSvg("ellipse", { cx: plain.x, cy: plain.y, rx: plain.rx, ry: plain.ry, ...paint(plain) });
    case "polygon":
      return makeSvg("polygon", { points: plain.points.map((point) => point.join(",")).join(" "), "stroke-linejoin": "round", ...paint(plain) });
    case "label": {
      const place = { x: plain.x, y: plain.y + 0.36 * plain.size, "font-size": plain.size, "text-anchor": plain.anchor };
      return makeSvg("text", { ...place, fill: plain.fill, "font-weight": plain.bold ? 700 : null }, plain.text);
    }
    default:
      return makeSvg("g");
  }
}

function box(plain) {
  const { x, y, width, height, radius, corners } = plain;
  if (!radius || corners.every(Boolean)) return makeSvg("rect", { x, y, width, height, rx: radius || null, ...paint(plain) });
  const [tl, tr, br, bl] = corners.map((rounded) => (rounded ? radius : 0));
  const arc = (r, dx, dy) => (r ? `a${r} ${r} 0 0 1 ${dx} ${dy}` : "");
  const d = [
    `M${x + tl} ${y}H${x + width - tr}${arc(tr, tr, tr)}`,
    `V${y + height - br}${arc(br, -br, br)}`,
    `H${x + bl}${arc(bl, -bl, -bl)}`,
    `V${y + tl}${arc(tl, tl, -tl)}Z`,
  ];
  return makeSvg("path", { d: d.join(""), ...paint(plain) });
}

/** One drawing that changes with the states it is shown. */
export class Stage {
  constructor(holder, drawing) {
    this.drawing = drawing;
    this.parts = new Map();
    const layer = (name) => makeSvg("g", { class: name });
    this.layers = Object.fromEntries(["background", "below", "frames", "looks", "objects", "leaving", "numbers", "figures", "targets"].map((name) => [name, layer(name)]));
    this.svg = makeSvg("svg", { viewBox: `-6 -18 ${drawing.width + 12} ${drawing.height + 22}`, role: "img", class: `world-${drawing.world}` }, ...Object.values(this.layers));
    this.svg.style.setProperty("max-width", `${Math.max(drawing.width * WIDEST, 240)}px`);
    this.layers.background.append(...drawing.background.map(shape));
    holder.replaceChildren(this.svg);
  }

  /** Show a frame; changed places are framed if `mark`, and what is new moves in if `animate`. */
  show(frame, { mark = true, animate = false } = {}) {
    this.svg.setAttribute("aria-label", frame.description);
    const move = animate && !calm();
    const changed = mark ? frame.changed : [];
    this.layers.leaving.replaceChildren();
    const wanted = new Set(frame.parts.map((item) => item.key));
    for (const [key, part] of this.parts) if (!wanted.has(key)) this.remove(key, part, move);
    for (const below of [true, false]) {
      const layer = below ? this.layers.below : this.layers.objects;
      frame.parts.filter((item) => item.below === below).forEach((item, index) => this.place(item, layer, index, move));
    }
    const { places } = this.drawing;
    this.layers.frames.replaceChildren(...changed.filter((place) => places[place].number).map((place) => shape(places[place].frame)));
    this.layers.numbers.replaceChildren(
      ...places.flatMap((place, index) => (place.number ? [shape(changed.includes(index) ? place.number_changed : place.number)] : [])),
    );
  }

  place(item, layer, index, move) {
    const known = this.parts.get(item.key);
    const group = known?.group ?? makeSvg("g", {}, ...(Array.isArray(item.sprite) ? item.sprite : this.drawing.sprites[item.sprite]).map(shape));
    if (layer.children[index] !== group) layer.insertBefore(group, layer.children[index] ?? null);
    const here = `translate(${item.x}px, ${item.y}px)`;
    group.setAttribute("transform", `translate(${item.x} ${item.y})`);
    if (move && known && (known.item.x !== item.x || known.item.y !== item.y)) {
      const there = `translate(${known.item.x}px, ${known.item.y}px)`;
      group.animate([{ transform: there }, { transform: here }], { duration: COMES, easing: EASE });
    }
    if (move && !known && item.enters) {
      const [dx, dy] = item.enters;
      const start = { transform: `translate(${item.x + dx}px, ${item.y + dy}px)`, opacity: 0 };
      group.animate([start, { opacity: 1, offset: 0.4 }, { transform: here, opacity: 1 }], { duration: COMES, easing: EASE });
    }
    this.parts.set(item.key, { group, item });
  }

  remove(key, { group, item }, move) {
    this.parts.delete(key);
    if (!move || !item.enters) {
      group.remove();
      return;
    }
    this.layers.leaving.append(group);
    const [dx, dy] = item.enters;
    const end = { transform: `translate(${item.x + dx}px, ${item.y + dy}px)`, opacity: 0 };
    const going = group.animate([{ transform: `translate(${item.x}px, ${item.y}px)`, opacity: 1 }, end], { duration: GOES, easing: "ease-in", fill: "forwards" });
    going.finished.then(() => group.remove(), () => group.remove());
  }

  /** Where the agent looked: weights by the objects' numbers, as a tint and a figure; null shows nothing. */
  look(weights) {
    const looks = (weights ?? []).flatMap(({ label, weight }) => {
      const place = this.drawing.places[Number(label) - 1];
      return place ? [{ frame: place.frame, weight }] : [];
    });
    this.layers.looks.replaceChildren(
      ...looks.map(({ frame: { x, y, width, height, radius }, weight }) =>
        makeSvg("rect", { x, y, width, height, rx: radius, class: "look", "fill-opacity": 0.04 + 0.5 * weight, "stroke-opacity": 0.1 + 0.9 * weight }),
      ),
    );
    this.layers.figures.replaceChildren(
      ...looks.filter(({ weight }) => weight >= 0.05).map(({ frame, weight }) =>
        makeSvg("text", { x: frame.x + frame.width / 2, y: frame.y + (this.drawing.columns ? 9 : -5), class: "look-figure", "text-anchor": "middle", "font-size": 12.5 }, percent(weight)),
      ),
    );
  }

  /** Buttons over the places, for editing; null takes them away. */
  target(frame, listener) {
    if (!listener) {
      this.layers.targets.replaceChildren();
      this.svg.setAttribute("role", "img");
      return;
    }
    this.svg.setAttribute("role", "group");
    if (!this.layers.targets.children.length) {
      this.layers.targets.append(...this.drawing.places.map((place, index) => this.button(place.frame, index)));
    }
    this.edited = listener;
    [...this.layers.targets.children].forEach((button, index) => {
      button.setAttribute("aria-label", `${this.drawing.place} ${index + 1}: ${frame.places[index]}`);
    });
  }

  button({ x, y, width, height, radius }, index) {
    const keys = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const buttons = [...this.layers.targets.children];
      const row = this.drawing.columns ?? 1;
      const to = { ArrowLeft: index - 1, ArrowRight: index + 1, ArrowUp: index - row, ArrowDown: index + row, Home: 0, End: buttons.length - 1 }[event.key];
      if (to !== undefined) buttons[Math.max(0, Math.min(buttons.length - 1, to))].focus();
      else if (event.key === "Enter" || event.key === " ") this.edited(index, null);
      else if (!this.edited(index, event.key === "Delete" ? "Backspace" : event.key)) return;
      event.preventDefault();
    };
    return makeSvg("rect", {
      x, y, width, height, rx: radius, class: "target", role: "button", tabindex: 0, click: () => this.edited(index, null), keydown: keys,
    });
  }
}
