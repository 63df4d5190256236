// The session on the bench: what was said and done, a cursor that points to one of its steps, and everything drawn from these two.

import { announce, byId, enable, make } from "./dom.js";
import { Stage } from "./drawing.js";
import { Editor } from "./editor.js";
import { inspect, overObjects } from "./inspector.js";
import { toFragment } from "./link.js";
import { done, mark, tell } from "./turns.js";
import { worldOf } from "./worlds.js";

const PACE = 560;
const LONGEST_PLAY = 7000;
const REMEMBERED = 200;

/** A world's name, a start state, turns as the server answered them, and what an example would say next. Never changed, only replaced. */
let session = null;
let past = [];
let cursor = 0;
/** The step that is pointed at, which is looked into when nothing is playing. */
let pointed = null;
let stage = null;
let playing = 0;
/** In words: the actions of the session's world by their notation, and attentions by their names. */
let actions = {};
let attentions = {};
const listeners = [];

const editor = new Editor(byId("brushes"), byId("edit"), (state) => {
  begin({ world: session.world, start: stage.world.format(state), turns: [], next: [] }, { animate: true });
});

export const current = () => session;
export const now = () => session.turns.at(-1)?.end ?? session.start;
/** Called with every new session. */
export const onSession = (listener) => listeners.push(listener);

const say = (action) => (Object.hasOwn(actions, action) ? actions[action] : action);
const words = (at) => (at.step ? done(at.turn, at.step, at.index, say) : "the start");
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The start, then every step of every turn. */
function positions() {
  const all = [{ turn: null, step: null, before: session.start, state: session.start }];
  for (const turn of session.turns) {
    let before = turn.start;
    turn.steps.forEach((step, index) => {
      all.push({ turn, step, index, before, state: step.state });
      before = step.state;
    });
  }
  return all;
}

// Drawing everything.

function draw({ animate = false } = {}) {
  const all = positions();
  const looking = pointed !== null && !playing;
  const shown = looking ? pointed : cursor;
  const at = all[shown];
  const { world } = stage;
  const state = world.parse(looking ? at.before : at.state);
  const since = at.step?.action === "stop" ? at.turn.start : at.before;
  stage.show(state, { changed: looking || !at.step ? [] : world.changed(world.parse(since), state), animate });
  stage.look(looking ? overObjects(at.step) : null);
  if (!looking) editor.offer(state);
  describe(at, shown, looking, all.length - 1);
  mark(byId("turns"), shown);
  const scrub = byId("scrub");
  scrub.max = String(all.length - 1);
  scrub.value = String(cursor);
  enable(scrub, all.length > 1);
  scrub.setAttribute("aria-valuetext", cursor ? `Step ${cursor} of ${all.length - 1}: ${words(all[cursor])}` : "Start");
  enable(byId("back"), cursor > 0);
  enable(byId("forth"), cursor < all.length - 1);
  enable(byId("play"), all.length > 1);
  enable(byId("undo"), past.length > 0);
}

function describe(at, shown, looking, last) {
  byId("where").textContent = at.step ? `${shown} / ${last}` : "Start";
  const caption = byId("caption");
  if (looking) caption.replaceChildren("Where it looked before it ", make("strong", {}, say(at.step.action)));
  else caption.textContent = at.step || last ? capital(words(at)) : "";
  byId("inspector").hidden = !at.step;
  if (at.step) inspect(byId("inspector"), session.turns.slice(0, session.turns.indexOf(at.turn) + 1), at.step, { say, attentions });
}

/** After the session was replaced: tell it anew, at its end unless said otherwise. */
function arrive({ animate = false, at = null } = {}) {
  pause();
  pointed = null;
  tell(byId("turns"), session, say, { choose, point, tap });
  byId("empty").hidden = session.turns.length > 0;
  cursor = at ?? positions().length - 1;
  draw({ animate });
  try {
    history.replaceState(null, "", toFragment(session));
  } catch {
    // a browser may find it too often; the link button makes the address anew
  }
  for (const listener of listeners) listener(session);
}

// Replacing the session.

/** Begin something else, which undo takes back: its turns one by one, then itself. */
export function begin(next, how) {
  const before = next.turns.map((_, count) => ({
    ...next,
    turns: next.turns.slice(0, count),
    next: [...next.turns.slice(count).map((turn) => turn.instruction), ...next.next],
  }));
  past = [...past, ...(session ? [session] : []), ...before].slice(-REMEMBERED);
  become(next, how);
}

function become(next, { animate = false } = {}) {
  const another = session?.world !== next.world;
  session = next;
  if (another) dress();
  arrive({ animate: animate && !another });
}

export function undo() {
  const back = past.at(-1);
  past = past.slice(0, -1);
  become(back, { animate: true });
  announce("Undone.");
}

/** One more turn, played from its start. */
export function add(turn, instruction) {
  past = [...past, session].slice(-REMEMBERED);
  const at = positions().length - 1;
  const next = session.next[0] === instruction ? session.next.slice(1) : [];
  session = { ...session, turns: [...session.turns, turn], next };
  editor.set(false, stage);
  arrive({ at });
  for (const note of turn.notes) announce(note);
  play();
  byId("turns").lastElementChild.scrollIntoView({ block: "nearest" });
}

let wardrobe = () => ({});

/** How to get a world's drawing, and its actions and attentions in words. */
export function dressFrom(find) {
  wardrobe = find;
}

function dress() {
  const found = wardrobe(session.world);
  ({ actions, attentions } = found);
  stage = new Stage(byId("drawing"), worldOf(session.world), found.drawing);
  editor.set(editor.on, stage);
}

export function edit() {
  editor.set(!editor.on, stage);
  choose(positions().length - 1);
}

// Moving through the steps.

/** Show a position; not `aloud` where the control that was used says it itself. */
export function choose(position, { aloud = true } = {}) {
  pause();
  pointed = null;
  const animate = Math.abs(position - cursor) === 1;
  cursor = position;
  draw({ animate });
  if (aloud) announce(`${capital(words(positions()[cursor]))}.`);
}

export const move = (by) => choose(cursor + by);

function point(position) {
  if (pointed === position) return;
  pointed = position;
  if (!playing) draw();
}

/** A finger cannot hover: it shows where the agent looked, and at its next tap what the step did. */
function tap(position) {
  const looked = pointed === position && !playing;
  choose(position);
  if (looked) return;
  point(position);
  byId("drawing").scrollIntoView({ block: "nearest" });
}

function pause() {
  clearTimeout(playing);
  playing = 0;
  byId("play").classList.remove("on");
  byId("play").setAttribute("aria-label", "Play");
}

/** Play from here on, or from the start if this is the end; or pause. */
export function toggle() {
  if (playing) {
    pause();
    return;
  }
  pointed = null;
  if (cursor >= positions().length - 1) cursor = 0;
  play();
}

/** Take one step after the other until the end; the first at once. */
function play() {
  const all = positions();
  if (cursor >= all.length - 1) {
    pause();
    if (pointed !== null) draw();
    return;
  }
  byId("play").classList.add("on");
  byId("play").setAttribute("aria-label", "Pause");
  cursor += 1;
  const { turn, step } = all[cursor];
  const pace = Math.min(PACE, LONGEST_PLAY / turn.steps.length);
  playing = setTimeout(play, step.action === "stop" ? pace / 2 : pace);
  draw({ animate: true });
  announce(`${capital(words(all[cursor]))}.`);
}
