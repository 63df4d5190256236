// The turns so far: what was said and what was done, each step a button.

import { make, percent } from "./dom.js";

/** The list of turns; `events` are `mean(reading)` for one of the readings of the last instruction, `choose(position, line)`, `tap(position, line)` for a finger, `point(position, line)` with null when it
 * is over, and `leave()` for what would have followed. A line is 0 for the agent, 1 for the one beside it, 2 for what would have followed. */
export function tell(list, session, branch, say, events) {
  let first = 0;
  const held = list.contains(document.activeElement) ? document.activeElement.dataset : {};
  list.replaceChildren(...session.turns.map((turn, number) => item(turn, number)));
  if (held.position) [...list.querySelectorAll(`.step[data-line="${held.line}"]`)].slice(0, Number(held.position)).at(-1)?.focus();

  function item({ did, other }, number) {
    const length = Math.max(did.steps.length, other?.steps.length ?? 0);
    const base = first;
    first += length;
    const instead = branch?.turn === number ? branch : null;
    return make(
      "li",
      { class: branch && number >= branch.turn ? "turn past" : "turn" },
      make("p", { class: "said" }, ...spelt(did)),
      other ? make("p", { class: "whose" }, session.agent) : null,
      steps(did, base, length, 0),
      other ? make("p", { class: "whose" }, session.other) : null,
      other ? steps(other, base, length, 1) : null,
      ...asides(did, number === session.turns.length - 1 && !branch),
      instead ? note(`What would have followed “${say(instead.action)}”:`, [{ label: "Back to what it did", act: events.leave }], "instead") : null,
      instead ? steps(instead.did, base, instead.did.steps.length, 2) : null,
    );
  }

  /** What stands under an instruction: what the agent has to say about it, and what it may have meant if that can still be chosen. */
  function asides(turn, open) {
    const notes = turn.notes.map((text) => note(text));
    if (!open || !turn.readings.length) return notes;
    const buttons = turn.readings.map((reading) => ({ label: reading.words, act: () => events.mean(reading) }));
    return [...notes, note(turn.readings.length > 1 ? "Choose one:" : "Did you mean this?", buttons, "readings")];
  }

  function steps(turn, base, length, line) {
    const last = turn.steps.length - 1;
    return make(
      "ol",
      { class: "steps", "aria-label": ["Steps", `Steps of ${session.other}`, "What would have followed"][line] },
      ...turn.steps.map((step, index) => make("li", {}, chip(turn, step, index, base + index + 1, index === last ? base + length : base + index + 1, line))),
    );
  }

  function chip(turn, step, index, at, until, line) {
    const words = done(turn, step, index, say);
    const sure = kept(turn) ? "" : percent(step.probability);
    let finger = false;
    return make(
      "button",
      {
        type: "button",
        class: idle(turn, step, index) ? "step idle" : "step",
        "data-position": at,
        "data-until": until,
        "data-line": line,
        "aria-label": sure ? `${words}, ${sure}` : words,
        title: sure ? `${step.action} (${sure})` : step.action,
        pointerdown: (event) => (finger = event.pointerType === "touch"),
        keydown: () => (finger = false),
        click: () => (finger ? events.tap(at, line) : events.choose(at, line)),
        pointerenter: (event) => event.pointerType !== "touch" && events.point(at, line),
        pointerleave: (event) => event.pointerType !== "touch" && events.point(null, line),
        focus: (event) => event.target.matches(":focus-visible") && events.point(at, line),
        blur: () => events.point(null, line),
      },
      words,
      sure && step.probability < 0.5 ? make("span", { class: "doubt" }, ` ${sure}`) : null,
    );
  }
}

/** A note under an instruction, with buttons if there is something to choose. */
function note(text, buttons = [], kind = "") {
  return make(
    "p",
    { class: `note ${kind}`.trim() },
    text,
    ...buttons.flatMap(({ label, act }) => [" ", make("button", { type: "button", click: act }, label)]),
  );
}

/** Whether the agent was kept from acting, since it did not understand the instruction: then its probabilities say nothing. */
export const kept = (turn) => !turn.understood;

/** Whether a step left everything as it was, though it was meant to act. */
const idle = (turn, step, index) => step.action !== "stop" && step.state === (turn.steps[index - 1]?.state ?? turn.start);

/** What a step did, in words. */
export const done = (turn, step, index, say) => (kept(turn) ? "does nothing" : say(step.action) + (idle(turn, step, index) ? ", which changes nothing" : ""));

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

/** Mark the steps that are shown, and those after them; `branch` is the number of the turn that another way is shown of, or null. */
export function mark(list, shown, branch) {
  [...list.children].forEach((item, number) => {
    for (const button of item.querySelectorAll(".step")) {
      const { position, until, line } = button.dataset;
      const elsewhere = branch !== null && line !== "2" && number >= branch;
      if (!elsewhere && Number(position) <= shown && shown <= Number(until)) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.classList.toggle("ahead", elsewhere || Number(position) > shown);
    }
  });
}
