// Why a step was taken: what else might have been done, and what was looked at.

import { make, percent } from "./dom.js";

const NAMES = {
  current: "This instruction",
  previous: "Earlier instructions",
  initial: "The state when the turn began",
  state: "The state now",
};

const WORTH_SHOWING = 0.005;

/** The whole panel for one step; `say` puts an action into words. */
export function inspect(panel, turn, step, say) {
  const given = step.attention.filter(({ heads }) => heads.some((head) => head.length));
  const inOrder = ["words", "objects"].flatMap((over) => given.filter((attended) => attended.over === over));
  panel.replaceChildren(
    make("div", { class: "choices" }, make("h2", { class: "label" }, "What it might have done"), choices(step, say)),
    make("div", { class: "attention" }, make("h2", { class: "label" }, "What it looked at"), ...inOrder.map((attended) => looked(attended, turn))),
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

function looked(attended, turn) {
  const name = Object.hasOwn(NAMES, attended.name) ? NAMES[attended.name] : attended.name.replaceAll("_", " ");
  const several = attended.heads.length > 1;
  return make(
    "section",
    { class: `attended over-${attended.over === "words" ? "words" : "objects"}` },
    make("h3", {}, name),
    ...attended.heads.map((head, index) => heads(head, several ? index + 1 : null, attended, turn)),
  );
}

function heads(head, number, attended, turn) {
  const largest = Math.max(...head.map(({ weight }) => weight), 1e-9);
  const most = head.filter(({ weight }) => weight >= 0.1).sort((a, b) => b.weight - a.weight);
  const said = most.map(({ label, weight }) => `${label} ${percent(weight)}`).join(", ") || "nothing in particular";
  const respelt = attended.name === "current" ? turn.words : [];
  return make(
    "p",
    { class: "head" },
    number ? make("span", { class: "number", "aria-hidden": "true" }, String(number)) : null,
    make("span", { class: "unseen" }, `${number ? `Head ${number}: ` : ""}${said}`),
    make(
      "span",
      { class: "cells", "aria-hidden": "true" },
      ...head.flatMap(({ label, weight }, index) => {
        const read = respelt[index];
        const title = `${label}${read && read.text === label && read.read_as !== label ? `, read as ${read.read_as}` : ""}: ${percent(weight)}`;
        const cell = make("span", { class: "cell", title }, label);
        cell.style.setProperty("--weight", weight < 0.03 ? "0" : weight.toFixed(3));
        if (weight === largest && weight >= 0.1) cell.classList.add("most");
        return [cell, " "];
      }),
    ),
  );
}

/** The weights to show in the drawing: the last attention over objects, all heads together. */
export function overObjects(step) {
  const attended = step.attention.findLast(({ over }) => over === "objects");
  if (!attended?.heads[0]?.length) return null;
  return attended.heads[0].map(({ label }, index) => ({
    label,
    weight: attended.heads.reduce((sum, head) => sum + head[index].weight, 0) / attended.heads.length,
  }));
}
