// What a step attended to: heads merged or apart, over the words of the instructions and over the objects.

import { make, percent } from "./dom.js";
import { reading } from "./turns.js";

/** The least weight that is drawn. */
const VISIBLE = 0.03;
/** The least weight that also has a bar; shorter bars look like specks. */
const WITH_BAR = 0.1;
/** The attentions over objects as they are when a step is chosen, by the names that policies have for them. */
const NOW = ["objects", "state"];

/** The mean of an attention's heads, as one head. */
export const merged = ({ heads }) =>
  (heads[0] ?? []).map(({ label }, index) => ({ label, weight: heads.reduce((sum, head) => sum + head[index].weight, 0) / heads.length }));

/** The weights to show in the drawing: an attention over the objects as drawn, else the last over objects, all heads together. */
export function overObjects(step) {
  const over = step.attention.filter((attended) => attended.over === "objects");
  const attended = over.find(({ name }) => NOW.includes(name)) ?? over.at(-1);
  return attended?.heads[0]?.length ? merged(attended) : null;
}

/** The words of a turn's instruction with their weights in a step, all heads and all attentions that reach them together. */
export function overWords(turn, step) {
  const texts = turn.words.map(({ text }) => text);
  const found = step.attention
    .filter(({ over, name, heads }) => over === "words" && name !== "previous" && heads.length)
    .map((attended) => merged(attended).slice(-texts.length))
    .filter((cells) => cells.length === texts.length && cells.every(({ label }, index) => label === texts[index]));
  return texts.map((label, index) => ({ label, weight: found.reduce((sum, cells) => sum + cells[index].weight, 0) / Math.max(found.length, 1), ...reading(turn.words[index]) }));
}

/** A word or an object with its weight as a tint and a bar. */
function cell({ label, weight, kind, note }, largest) {
  const made = make("span", { class: kind ? `cell ${kind}` : "cell", title: `${label}${note ? `, ${note}` : ""}: ${percent(weight)}` }, label);
  made.style.setProperty("--weight", weight < VISIBLE ? "0" : weight.toFixed(3));
  made.style.setProperty("--bar", weight < WITH_BAR ? "0" : weight.toFixed(3));
  if (weight === largest && weight >= 0.1) made.classList.add("most");
  return made;
}

const largestOf = (head) => Math.max(...head.map(({ weight }) => weight), 1e-9);

/** Cells for the eye alone. */
export const cells = (head) => head.flatMap((each) => [cell(each, largestOf(head)), " "]);

/** One attention, by a heading; its heads merged, or apart. */
export function attention(attended, turns, name, apart) {
  const heads = apart ? attended.heads : [merged(attended)];
  const hardly = heads.every((head) => head.every(({ weight }) => weight < VISIBLE));
  const rows = heads.map((head, index) => row(inTurns(head, attended, turns), heads.length > 1 ? index + 1 : null));
  return make(
    "section",
    { class: `attended over-${attended.over === "words" ? "words" : "objects"}` },
    make("h3", {}, name),
    ...(hardly ? [make("p", { class: "hardly" }, "Hardly at all")] : rows),
  );
}

/** The head in groups, one per turn, with how each word was read; whichever instructions it is over, it ends with the last of them. */
function inTurns(head, attended, turns) {
  if (attended.over !== "words") return [{ number: null, head }];
  const spoken = (attended.name === "previous" ? turns.slice(0, -1) : turns).flatMap(({ words }, turn) => words.map((word) => ({ word, turn })));
  const groups = [];
  head.forEach((each, index) => {
    const { word, turn } = spoken.at(index - head.length) ?? {};
    if (!groups.length || groups.at(-1).turn !== turn) groups.push({ turn, number: turn === undefined ? null : turn + 1, head: [] });
    groups.at(-1).head.push(word?.text === each.label ? { ...each, ...reading(word) } : each);
  });
  return groups.length > 1 ? groups : groups.map((group) => ({ ...group, number: null }));
}

function row(groups, number) {
  const head = groups.flatMap((group) => group.head);
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
      ...groups.map((group) =>
        make(
          "span",
          { class: "of-turn" },
          group.number ? make("span", { class: "boundary", title: `Turn ${group.number}` }, String(group.number)) : null,
          ...group.head.flatMap((each) => [cell(each, largestOf(head)), " "]),
        ),
      ),
    ),
  );
}
