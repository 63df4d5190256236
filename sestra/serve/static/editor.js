// Editing the state: brushes above the drawing, and what a click or a key does with them.

import { announce, make } from "./dom.js";

export class Editor {
  /** `change(state)` is called with every new state. */
  constructor(panel, toggle, change) {
    this.panel = panel;
    this.toggle = toggle;
    this.change = change;
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
    const { world, drawing } = this.stage;
    const brushes = world.brushes(drawing);
    if (!brushes.some((brush) => brush.id === this.brush)) this.brush = brushes[0]?.id ?? null;
    const rows = new Map();
    for (const brush of brushes) rows.set(brush.row ?? "", [...(rows.get(brush.row ?? "") ?? []), brush]);
    this.panel.replaceChildren(
      ...[...rows].map(([row, members]) =>
        make("div", { class: "row", role: "group", "aria-label": row || "Brushes" }, row ? make("span", { class: "label", "aria-hidden": "true" }, row) : null, ...members.map((brush) => this.swatch(brush))),
      ),
      make("p", { class: "hint" }, world.hint),
    );
  }

  swatch(brush) {
    const input = make("input", { type: "radio", name: "brush", value: brush.id, "aria-label": brush.label, change: () => (this.brush = brush.id) });
    input.checked = brush.id === this.brush;
    const sign = make("span", { class: brush.sign ? "sign" : "sign none", "aria-hidden": "true" }, brush.sign ?? "×");
    if (brush.fill) sign.style.setProperty("background", brush.fill);
    if (brush.ink) sign.style.setProperty("color", brush.ink);
    return make("label", { class: "swatch", title: brush.label }, input, sign, make("span", {}, brush.name ?? brush.label));
  }

  /** Make the places of the drawing buttons that change this state. */
  offer(state) {
    if (!this.on) return;
    const { world, drawing } = this.stage;
    this.stage.target(state, (place, key) => {
      const brush = key === null ? this.brush : world.brushes(drawing).find((each) => each.key === key)?.id;
      if (brush === undefined || brush === null) return false;
      const edited = world.edit(state, place, brush, drawing);
      if (edited) {
        this.change(edited);
        announce(`${world.place} ${place + 1}: ${world.describe(edited[place], drawing)}.`);
      } else {
        announce("Nothing to change there.");
      }
      return true;
    });
  }
}
