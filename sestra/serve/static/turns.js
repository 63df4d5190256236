// The turns so far: what was said and what was done, each step a button.

import { make, percent } from "./dom.js";

/** The list of turns; `events` are `choose(position)`, `tap(position)` for a finger, and `point(position)` with null when it is over. */
export function tell(list, session, say, events) {
  let position = 0;
  const held = list.contains(document.activeElement) ? Number(document.activeElement.dataset.position) : 0;
  const items = session.turns.map((turn) => make("li", { class: "turn" }, said(turn), steps(turn), ...turn.notes.map((note) => make("p", { class: "note" }, note))));
  list.replaceChildren(...items);
  if (held) [...list.querySelectorAll(".step")].slice(0, held).at(-1)?.focus();

  function said(turn) {
    return make("p", { class: "said" }, ...spelt(turn));
  }

  function steps(turn) {
    return make("ol", { class: "steps", "aria-label": "Steps" }, ...turn.steps.map((step, index) => make("li", {}, chip(turn, step, index, ++position))));
  }

  function chip(turn, step, index, at) {
    const words = done(turn, step, index, say);
    let finger = false;
    return make(
      "button",
      {
        type: "button",
        class: idle(turn, step, index) ? "step idle" : "step",
        "data-position": at,
        "aria-label": `${words}, ${percent(step.probability)}`,
        title: words,
        pointerdown: (event) => (finger = event.pointerType === "touch"),
        keydown: () => (finger = false),
        click: () => (finger ? events.tap(at) : events.choose(at)),
        pointerenter: (event) => event.pointerType !== "touch" && events.point(at),
        pointerleave: (event) => event.pointerType !== "touch" && events.point(null),
        focus: (event) => event.target.matches(":focus-visible") && events.point(at),
        blur: () => events.point(null),
      },
      step.action.replaceAll("_", " "),
      step.probability < 0.5 ? make("span", { class: "doubt" }, ` ${percent(step.probability)}`) : null,
    );
  }
}

/** Whether a step left everything as it was, though it was meant to act. */
const idle = (turn, step, index) => step.action !== "stop" && step.state === (turn.steps[index - 1]?.state ?? turn.start);

/** What a step did, in words. */
export const done = (turn, step, index, say) => say(step.action) + (idle(turn, step, index) ? ", which changes nothing" : "");

/** The instruction as typed; words that were read as others, or not at all, are marked. */
function spelt(turn) {
  const odd = new Map(turn.words.filter((word) => word.read_as !== word.text || !word.known).map((word) => [word.text, word]));
  if (!odd.size) return [turn.instruction];
  return turn.instruction.split(/(\s+)/).map((piece) => {
    const word = odd.get(piece.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""));
    return word ? make("span", { class: reading(word).kind, title: reading(word).note }, piece) : piece;
  });
}

/** How a word was read, if not as it stands: a class for it, and a note. */
export function reading(word) {
  if (!word.known) return { kind: "unknown", note: "not a word that the agent knows" };
  return word.read_as === word.text ? null : { kind: "respelt", note: `read as “${word.read_as}”` };
}

/** Mark the step that is shown, and those after it. */
export function mark(list, cursor) {
  for (const button of list.querySelectorAll(".step")) {
    const at = Number(button.dataset.position);
    if (at === cursor) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    button.classList.toggle("ahead", at > cursor);
  }
}
