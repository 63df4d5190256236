// The whole interaction in the address, after the #: readable, and believed only as far as it can be checked.

import { worldOf } from "./worlds.js";

/** World, start state, what was said, and the state that it led to. */
export function toFragment(session) {
  const fields = new URLSearchParams({ world: session.world, state: session.start });
  for (const turn of session.turns) fields.append("do", turn.instruction);
  if (session.turns.length) fields.append("end", session.turns.at(-1).end);
  return `#${fields}`;
}

/** What a fragment says, or null where there is none; throws an Error with a sentence where it makes no sense. */
export function fromFragment(fragment, known, limits) {
  const text = fragment.replace(/^#/, "");
  if (!text) return null;
  if (text.length > limits.body) throw new Error("The link is too long to be one of this page’s.");
  const fields = new URLSearchParams(text);
  const name = fields.get("world") ?? "";
  if (!known.includes(name)) throw new Error(`The link is for a world that this server has no agent for. There is ${known.join(", ")}.`);
  const world = worldOf(name);
  const states = ["state", "end"].map((field) => (fields.has(field) ? world.parse(fields.get(field)) : undefined));
  if (!states[0] || states[1] === null) throw new Error(`The link’s state is not one of ${world.title}.`);
  const instructions = fields.getAll("do");
  if (instructions.length > limits.history + 1) throw new Error(`The link has more than ${limits.history + 1} instructions.`);
  if (instructions.some((instruction) => !instruction.trim() || instruction.length > limits.instruction)) {
    throw new Error(`An instruction in the link is empty or longer than ${limits.instruction} characters.`);
  }
  return { world: name, start: world.format(states[0]), instructions, end: states[1] ? world.format(states[1]) : null };
}
