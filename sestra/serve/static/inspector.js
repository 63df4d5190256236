// Why a step was taken: what else might have been done, and what was looked at.

import { make, percent } from "./dom.js";
import { reading } from "./turns.js";

const WORTH_SHOWING = 0.005;
/** The least weight that is drawn. */
const VISIBLE = 0.03;
/** The attentions over objects as they are when a step is chosen, by the names that policies have for them. */
const NOW = ["objects", "state"];

/** The whole panel for a step of the last of these turns; `say` puts an action into words, `attentions` an attention's name. */
export function inspect(panel, turns, step, { say, attentions }) {
  const given = step.attention.filter(({ heads }) => heads.some((head) => head.some(({ weight }) => weight > 0)));
  const inOrder = ["words", "objects"].flatMap((over) => given.filter((attended) => attended.over === over));
  panel.replaceChildren(
    make("div", { class: "choices" }, make("h2", { class: "label" }, "What it might have done"), choices(step, say)),
    make("div", { class: "attention" }, make("h2", { class: "label" }, "What it looked at"), ...inOrder.map((attended) => looked(attended, turns, attentions))),
  );
}

function choices(step, say) {
  const rows = [{ action: step.action, probability: step.probability, taken: true }, ...step.alternatives.filter(({ probability }, index) => index < 3 || probability >= WORTH_SHOWING)];
  return make(
    "ol",
    {},
    ...rows.map(({ action, probability, taken }) => {
      const bar = make("span", { class: "bar" });
      bar.style.setProperty("--part", String(probability));
      return make(
        "li",
        { class: taken ? "taken" : null },
        make("span", { class: "choice" }, say(action), taken ? make("span", { class: "unseen" }, " (taken)") : null),
        make("span", { class: "figure" }, percent(probability)),
        bar,
      );
    }),
  );
}

function looked(attended, turns, attentions) {
  const name = Object.hasOwn(attentions, attended.name) ? attentions[attended.name] : attended.name.replaceAll("_", " ");
  const several = attended.heads.length > 1;
  const rows = attended.heads.map((head, index) => heads(withNotes(head, attended, turns), several ? index + 1 : null));
  const hardly = attended.heads.every((head) => head.every(({ weight }) => weight < VISIBLE));
  return make(
    "section",
    { class: `attended over-${attended.over === "words" ? "words" : "objects"}` },
    make("h3", {}, name),
    ...(hardly ? [make("p", { class: "hardly" }, "Hardly at all")] : rows),
  );
}

/** The head with how each word was read; whichever instructions an attention is over, it ends with the last of them. */
function withNotes(head, attended, turns) {
  if (attended.over !== "words") return head;
  const spoken = (attended.name === "previous" ? turns.slice(0, -1) : turns).flatMap(({ words }) => words);
  return head.map((cell, index) => {
    const word = spoken.at(index - head.length);
    return word?.text === cell.label ? { ...cell, ...reading(word) } : cell;
  });
}

function heads(head, number) {
  const largest = Math.max(...head.map(({ weight }) => weight), 1e-9);
  const most = head.filter(({ weight }) => weight >= 0.1).sort((a, b) => b.weight - a.weight);
  const said = most.map(({ label, weight, note }) => `${label}${note ? ` (${note})` : ""} ${percent(weight)}`).join(", ") || "nothing in particular";
  return make(
    "p",
    { class: "head" },
    number ? make("span", { class: "number", "aria-hidden": "true" }, String(number)) : null,
    make("span", { class: "unseen" }, `${number ? `Head ${number}: ` : ""}${said}`),
    make(
      "span",
      { class: "cells", "aria-hidden": "true" },
      ...head.flatMap(({ label, weight, kind, note }) => {
        const title = `${label}${note ? `, ${note}` : ""}: ${percent(weight)}`;
        const cell = make("span", { class: kind ? `cell ${kind}` : "cell", title }, label);
        cell.style.setProperty("--weight", weight < VISIBLE ? "0" : weight.toFixed(3));
        if (weight === largest && weight >= 0.1) cell.classList.add("most");
        return [cell, " "];
      }),
    ),
  );
}

/** The weights to show in the drawing: an attention over the objects as drawn, else the last over objects, all heads together. */
export function overObjects(step) {
  const over = step.attention.filter((attended) => attended.over === "objects");
  const attended = over.find(({ name }) => NOW.includes(name)) ?? over.at(-1);
  if (!attended?.heads[0]?.length) return null;
  return attended.heads[0].map(({ label }, index) => ({
    label,
    weight: attended.heads.reduce((sum, head) => sum + head[index].weight, 0) / attended.heads.length,
  }));
}
