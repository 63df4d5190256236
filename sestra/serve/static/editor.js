// Editing the state: brushes above the drawing, and what a click or a key does with them.

import { announce, make } from "./dom.js";

export class Editor {
  /** `change(state, place, brush)` edits the state and resolves to its new frame, or to null; `fail` is told what went wrong. */
  constructor(panel, toggle, change, fail) {
    this.panel = panel;
    this.toggle = toggle;
    this.change = change;
    this.fail = fail;
    this.queue = Promise.resolve();
    this.on = false;
    this.brush = null;
  }

  /** Show or hide the brushes of a world. */
  set(on, stage) {
    if (!on && (this.panel.contains(document.activeElement) || document.activeElement?.matches(".target"))) this.toggle.focus();
    this.on = on;
    this.stage = stage;
    this.toggle.setAttribute("aria-pressed", String(on));
    this.panel.hidden = !on;
    if (on) this.brushes();
    else stage?.target(null, null);
  }

  brushes() {
    const { brushes, hint } = this.stage.drawing;
    if (!brushes.some((brush) => brush.name === this.brush)) this.brush = brushes[0]?.name ?? null;
    const rows = new Map();
    for (const brush of brushes) rows.set(brush.row, [...(rows.get(brush.row) ?? []), brush]);
    this.panel.replaceChildren(
      ...[...rows].map(([row, members]) =>
        make("div", { class: "row", role: "group", "aria-label": row || "Brushes" }, row ? make("span", { class: "label", "aria-hidden": "true" }, row) : null, ...members.map((brush) => this.swatch(brush))),
      ),
      make("p", { class: "hint" }, brushes.length ? hint : "The states of this world cannot be edited here."),
    );
  }

  swatch(brush) {
    const input = make("input", { type: "radio", name: "brush", value: brush.name, "aria-label": brush.label, change: () => (this.brush = brush.name) });
    input.checked = brush.name === this.brush;
    const sign = make("span", { class: brush.sign ? "sign" : "sign none", "aria-hidden": "true" }, brush.sign || "×");
    if (brush.fill) sign.style.setProperty("background", brush.fill);
    if (brush.ink) sign.style.setProperty("color", brush.ink);
    const thing = brush.row ? ` ${brush.row.toLowerCase()}` : "";
    return make("label", { class: "swatch", title: brush.label }, input, sign, make("span", {}, thing && brush.label.endsWith(thing) ? brush.label.slice(0, -thing.length) : brush.label));
  }

  /** Make the places of the drawing buttons that change this state, a text, as its frame shows it. */
  offer(state, frame) {
    if (!this.on) return;
    this.state = state;
    this.stage.target(frame, (place, key) => {
      const brush = key === null ? this.brush : this.stage.drawing.brushes.find((each) => each.key && each.key === key)?.name;
      if (brush === undefined || brush === null) return false;
      this.queue = this.queue.then(() => this.put(brush, place)); // one after the other, each on what the one before has made
      return true;
    });
  }

  async put(brush, place) {
    try {
      const changed = await this.change(this.state, place + 1, brush);
      announce(changed ? `${this.stage.drawing.place} ${place + 1}: ${changed.places[place]}.` : "Nothing to change there.");
    } catch (error) {
      this.fail(error);
    }
  }
}
