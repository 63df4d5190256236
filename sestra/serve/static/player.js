// The session on the stage: a cursor that points to one of its steps, and everything drawn from these two.

import { cells, overObjects, overWords } from "./attention.js";
import { announce, byId, capital, enable, make } from "./dom.js";
import { Stage } from "./drawing.js";
import { frameOf } from "./frames.js";
import { inspect } from "./inspector.js";
import { current, onSession, otherwise, suppose, undoable } from "./session.js";
import { done, kept, mark, tell } from "./turns.js";

const PACE = 560;
const LONGEST_PLAY = 7000;

let cursor = 0;
/** The step that is pointed at, which is looked into when nothing is playing: its position and its line. */
let pointed = null;
let stages = [];
let playing = 0;
/** In words: the actions of the session's world by their notation, and attentions by their names. */
let actions = {};
let attentions = {};
let dressed = { world: null, sides: 0 };

const say = (action) => (Object.hasOwn(actions, action) ? actions[action] : action);
const words = ({ turn, step, index }) => (step ? done(turn, step, index, say) : "the start");

/** The turns that are shown: those of the session, or as they would have been. */
function shownTurns() {
  const { turns } = current();
  const branch = otherwise();
  return branch ? [...turns.slice(0, branch.turn), { did: branch.did, other: null }] : turns;
}

/** The start, then every step of every turn: what each side shows there. The side that is done first waits for the other. */
function positions() {
  const { start } = current();
  const all = [{ number: -1, sides: [{ before: start, state: start }, { before: start, state: start }] }];
  shownTurns().forEach(({ did, other }, number) => {
    for (let step = 0; step < Math.max(did.steps.length, other?.steps.length ?? 0); step += 1) {
      all.push({ number, sides: [side(did, step), other ? side(other, step) : side(did, step)] });
    }
  });
  return all;
}

function side(turn, number) {
  const index = Math.min(number, turn.steps.length - 1);
  const step = turn.steps[index];
  return { turn, step, index, before: turn.steps[index - 1]?.state ?? turn.start, state: step.state };
}

// Drawing everything.

export function draw({ animate = false } = {}) {
  const all = positions();
  const last = all.length - 1;
  const looking = pointed !== null && !playing;
  const shown = looking ? pointed.position : cursor;
  const { world } = current();
  const { number, sides } = all[shown];
  stages.forEach((stage, each) => {
    const at = sides[each];
    const since = at.step?.action === "stop" ? at.turn.start : at.before;
    const attending = at.step && !kept(at.turn) && (looking || playing || shown < last);
    stage.show(looking ? frameOf(world, at.before) : frameOf(world, at.state, at.step ? since : at.state), { mark: !looking && Boolean(at.step), animate });
    stage.look(attending ? overObjects(at.step) : null);
    caption(each, at, { looking, attending, last });
  });
  if (!looking) onStage(sides[0].state);
  byId("where").textContent = number >= 0 ? `${shown} / ${last}` : "Start";
  explain(number, sides[pointed?.line === 1 ? 1 : 0]);
  mark(byId("turns"), shown, otherwise()?.turn ?? null);
  controls(all, shown);
}

/** Under a drawing: the instruction with the weights of its words, and what is done. */
function caption(each, at, { looking, attending, last }) {
  const heard = byId(`heard-${each}`);
  if (!at.step) heard.replaceChildren();
  else heard.replaceChildren(...cells(overWords(at.turn, at.step).map((word) => (attending ? word : { ...word, weight: 0 }))));
  const said = byId(`caption-${each}`);
  if (looking) said.replaceChildren("Where it looked before it ", make("strong", {}, say(at.step.action)));
  else said.textContent = at.step || last ? capital(words(at)) : "";
}

function explain(number, { step, turn, index }) {
  const panel = byId("inspector");
  panel.classList.toggle("blank", !step);
  if (!step) {
    shrink();
    return;
  }
  const turns = shownTurns().slice(0, number).map(({ did }) => did);
  const { agent, other } = current();
  const beside = other && turn === shownTurns()[number].other;
  inspect([...turns, turn], step, {
    say,
    attentions,
    apart: byId("apart").checked,
    whose: other ? (beside ? other : agent) : "",
    follow: (action) => supposed({ turn: number, agent: beside ? other : agent, action, actions: [...turn.steps.slice(0, index).map((each) => each.action), action] }),
  });
  panel.style.setProperty("min-height", `${panel.offsetHeight}px`); // else a step below it would move away from under the pointer
}

/** Let the inspector be as high as what is in it. */
export const shrink = () => byId("inspector").style.removeProperty("min-height");

window.addEventListener("resize", shrink);

function controls(all, shown) {
  const scrub = byId("scrub");
  const at = all[shown];
  scrub.max = String(all.length - 1);
  scrub.value = String(shown);
  enable(scrub, all.length > 1);
  scrub.setAttribute("aria-valuetext", shown ? `Step ${shown} of ${all.length - 1}: ${words(at.sides[0])}` : "Start");
  enable(byId("back"), cursor > 0);
  enable(byId("forth"), cursor < all.length - 1);
  enable(byId("play"), all.length > 1);
  enable(byId("undo"), undoable());
}

let onStage = () => {};
let supposed = () => {};
let meant = () => {};
let wardrobe = () => ({});

/** `dress(world)` has a world's drawing, and its actions and attentions in words; `staged(state)` is told which state can be edited;
 * `follow(what)` finds out what would have followed an action; `mean(reading)` has a reading of the last instruction carried out. */
export function connect({ dress, staged, follow, mean }) {
  wardrobe = dress;
  onStage = staged;
  supposed = follow;
  meant = mean;
}

export const stage = () => stages[0];

function dress({ world, agent, other }) {
  const sides = other ? 2 : 1;
  byId("side-1").hidden = !other;
  byId("stage").classList.toggle("two", Boolean(other));
  byId("name-0").textContent = other ? agent : "";
  byId("name-1").textContent = other ?? "";
  if (dressed.world === world && dressed.sides === sides) return false;
  const found = wardrobe(world);
  ({ actions, attentions } = found);
  stages = Array.from({ length: sides }, (_, each) => new Stage(byId(`drawing-${each}`), found.drawing));
  dressed = { world, sides };
  return true;
}

/** After the session was replaced: tell it anew, at its end unless it is to be played. */
onSession((before, { animate = false, play: played = false, supposing = false }) => {
  pause();
  shrink();
  const held = supposing && document.activeElement?.closest("#inspector, .note");
  pointed = null;
  const session = current();
  const fresh = dress(session);
  const branch = otherwise();
  tell(byId("turns"), session, branch, say, { choose, point, tap, leave: () => suppose(null), mean: (reading) => meant(reading) });
  byId("empty").hidden = session.turns.length > 0;
  const last = positions().length - 1;
  const shown = shownTurns();
  const begun = (count) => shown.slice(0, count).reduce((sum, { did, other }) => sum + Math.max(did.steps.length, other?.steps.length ?? 0), 0);
  if (branch) cursor = begun(branch.turn) + branch.at;
  else if (played) cursor = begun(shown.length - 1);
  else cursor = supposing ? Math.min(cursor, last) : last;
  draw({ animate: animate && !fresh });
  if (branch || played) play();
  if (played) {
    for (const note of session.turns.at(-1).did.notes) announce(note);
    reveal(byId("turns").lastElementChild);
  }
  if (held) byId("turns").querySelector(branch ? ".instead button" : ".step[aria-current]")?.focus();
  if (branch) reveal(byId("turns").querySelector(".instead"));
});

/** Scroll the list of turns, not the page, whose stage is what is looked at. */
function reveal(part) {
  const list = byId("turns");
  list.scrollTop += part.getBoundingClientRect().top - list.getBoundingClientRect().top;
}

// Moving through the steps.

/** Show a position; not `aloud` where the control that was used says it itself. */
export function choose(position, line = 0, { aloud = true } = {}) {
  pause();
  if (otherwise() && line !== 2 && position > begin(otherwise().turn)) suppose(null);
  pointed = null;
  const all = positions();
  const animate = Math.abs(position - cursor) === 1;
  cursor = Math.min(position, all.length - 1);
  draw({ animate });
  if (aloud) announce(`${aloudWords(all[cursor])}.`);
}

/** Where a turn begins. */
const begin = (turn) => positions().filter(({ number }) => number < turn).length - 1;

const aloudWords = ({ sides }) => {
  const { agent, other } = current();
  return stages.length > 1 && sides[0].step ? `${agent}: ${words(sides[0])}; ${other}: ${words(sides[1])}` : capital(words(sides[0]));
};

export const scrub = (position) => choose(position, 2, { aloud: false });

export const move = (by) => choose(cursor + by, 2);

export const toEnd = () => choose(positions().length - 1, 2);

function point(position, line) {
  if (position !== null && otherwise() && line !== 2 && position > begin(otherwise().turn)) return; // it is not what the stage shows
  if (position === null ? pointed === null : pointed?.position === position && pointed.line === line) return;
  pointed = position === null ? null : { position, line };
  if (!playing) draw();
}

/** A finger cannot hover: it shows where the agent looked, and at its next tap what the step did. */
function tap(position, line) {
  const looked = pointed?.position === position && pointed.line === line && !playing;
  choose(position, line);
  if (looked) return;
  point(position, line);
  byId("stage").scrollIntoView({ block: "nearest" });
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
    draw();
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
    draw();
    return;
  }
  byId("play").classList.add("on");
  byId("play").setAttribute("aria-label", "Pause");
  cursor += 1;
  const { number, sides } = all[cursor];
  const length = all.filter((each) => each.number === number).length;
  const pace = Math.min(PACE, LONGEST_PLAY / length);
  playing = setTimeout(play, sides[0].step.action === "stop" && cursor < all.length - 1 ? pace / 2 : pace);
  draw({ animate: true });
  announce(`${aloudWords(all[cursor])}.`);
}
