// States as they are drawn, asked of the server once each: everything that is drawn was prepared before.

import { post } from "./api.js";

const known = new Map();
const AT_ONCE = 100;

const key = (world, state, since) => JSON.stringify([world, state, since]);

/** A state of a world, with what has changed since another one. */
export const frameOf = (world, state, since = state) => known.get(key(world, state, since));

/** Fetch frames, each a pair of a state and the one since which it has changed. */
export async function prepare(world, pairs) {
  const missing = new Map(pairs.map(([state, since]) => [key(world, state, since), { state, since }]).filter(([name]) => !known.has(name)));
  const wanted = [...missing];
  for (let first = 0; first < wanted.length; first += AT_ONCE) {
    const some = wanted.slice(first, first + AT_ONCE);
    const { frames } = await post("api/frames", { world, frames: some.map(([, frame]) => frame) });
    some.forEach(([name], index) => known.set(name, frames[index]));
  }
}

/** All that is shown of turns: each state with what the step changed, each before its step, and the end with what the turn changed. */
export function prepareTurns(world, turns) {
  const pairs = turns.flatMap((turn) => {
    const states = [turn.start, ...turn.steps.map((step) => step.state)];
    return [...states.map((state) => [state, state]), ...turn.steps.map((step, index) => [step.state, states[index]]), [turn.end, turn.start]];
  });
  return prepare(world, pairs);
}
