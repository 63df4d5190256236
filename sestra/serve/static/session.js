// The session: what was said and done, and what undo takes back. Whoever listens is told of every change.

const REMEMBERED = 200;

/** A world's name, a start state, the agent that acts, how it chooses, the agent beside it (or null), turns, and what an example would say
 * next. A turn has what the agent `did` and what the `other` one would have done, as the server answered them, the `seed` of a sample, and the `chosen` actions if
 * a reading was chosen.
 * Never changed, only replaced. */
let session = null;
/** What would have followed another action: the number of the turn, the action, and the turn as it would have been; or null. */
let branch = null;
let past = [];
const listeners = [];

export const current = () => session;
export const otherwise = () => branch;
export const now = () => session.turns.at(-1)?.did.end ?? session.start;
export const undoable = () => past.length > 0;

/** Called with what was there before, and how to show what is there now, at every change. */
export const onSession = (listener) => listeners.push(listener);

function become(next, how, other = null) {
  const before = session;
  session = next;
  branch = other;
  for (const listener of listeners) listener(before, how);
}

/** Begin something else, which undo takes back: its turns one by one, then itself. */
export function begin(next, how = {}) {
  const before = next.turns.map((_, count) => ({
    ...next,
    turns: next.turns.slice(0, count),
    next: [...next.turns.slice(count).map((turn) => turn.did.instruction), ...next.next],
  }));
  past = [...past, ...(session ? [session] : []), ...before].slice(-REMEMBERED);
  become(next, how);
}

/** The same session followed by others, which undo takes back as a whole. */
export function exchange(next) {
  past = [...past, session].slice(-REMEMBERED);
  become(next, {});
}

export function undo() {
  const back = past.at(-1);
  past = past.slice(0, -1);
  become(back, { animate: true });
}

/** One more turn, to be played from its start. */
export function add(turn) {
  past = [...past, session].slice(-REMEMBERED);
  const next = session.next[0] === turn.did.instruction ? session.next.slice(1) : [];
  become({ ...session, turns: [...session.turns, turn], next }, { play: true });
}

/** The last turn as it was meant, to be played from its start. */
export function resolve(turn) {
  past = [...past, session].slice(-REMEMBERED);
  become({ ...session, turns: [...session.turns.slice(0, -1), turn] }, { play: true });
}

/** Show what would have followed, or with null what was done. */
export const suppose = (other) => become(session, { supposing: true }, other);
