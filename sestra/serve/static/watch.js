// A run that is watched: its curves, and the same instructions as the model of each epoch follows them. Asked for again and again.

import { Away, ask, onReturn } from "./api.js";
import { drawCurves, fillTable } from "./curves.js";
import { announce, byId, capital, enable, enabled, make, percent } from "./dom.js";
import { Stage } from "./drawing.js";
import { frameOf, prepare } from "./frames.js";

const AGAIN = 2000;
const PACE = 900;
/** Seconds without a word after which a run that has not ended is said to be quiet. */
const QUIET = 120;

let run = null;
/** The place in `run.followed` that is shown. */
let shown = 0;
let cards = [];
let playing = 0;
let showing = 0;
/** What the models did, by epoch, as far as it was looked at. */
const taken = new Map();

const epochs = () => run.followed.map(({ epoch }) => epoch);
const shownEpoch = () => epochs()[shown] ?? run.records.at(-1)?.epoch ?? 0;
const name = (epoch) => (epoch === 0 ? "before training" : `epoch ${epoch}`);

/** Ask how far the run is, and show it. */
async function look() {
  const before = run;
  run = await ask("api/run");
  if (!before) await begin();
  if (before && before.records.length > run.records.length) taken.clear(); // the folder holds another run now
  if (byId("newest").checked && !playing) shown = Math.max(run.followed.length - 1, 0);
  shown = Math.min(shown, Math.max(run.followed.length - 1, 0));
  if (before && before.records.length === run.records.length && before.finished === run.finished && before.followed.length === run.followed.length) {
    say();
    return;
  }
  if (before && run.records.length) announce(progress());
  fillTable(byId("table"), run.records, run.curves);
  await draw();
}

async function begin() {
  const { name: called, world, policy, learner, seed } = run;
  byId("about").textContent = `${called}: ${world}, ${policy} policy, ${learner} learner${seed === null ? "" : `, seed ${seed}`}`;
  document.title = `${called}: watch it learn`;
  byId("home").hidden = !(await ask("api/worlds")).worlds.length;
  const drawing = run.tasks.length ? await ask("api/drawing", { world }) : null;
  cards = run.tasks.map((task) => new Card(task, drawing, world));
  byId("tasks").replaceChildren(...cards.map(({ item }) => item));
  byId("empty").hidden = run.tasks.length > 0;
  byId("empty").textContent = "This run has stored no instructions to follow: an earlier version of sestra, or another command, has begun it.";
}

/** How far it is, in a sentence. */
function progress() {
  const { records, epochs: most, finished, selected } = run;
  const done = records.at(-1)?.epoch ?? 0;
  const best = selected === null ? "" : ` The model of epoch ${selected} is the best so far.`;
  if (finished) return `It has ended after ${done} epochs. The model of epoch ${selected} was selected.`;
  return `${done ? `${done} of at most ${most ?? "?"} epochs have ended` : "The first epoch is under way"}.${best}`;
}

function say() {
  const quiet = !run.finished && run.idle > QUIET;
  byId("status").textContent = `${progress()}${quiet ? ` Nothing was written for ${Math.round(run.idle / 60)} minutes: a long epoch, or it was stopped.` : ""}`;
}

async function draw() {
  const mine = ++showing;
  const epoch = shownEpoch();
  if (cards.length && run.followed.length) {
    if (!taken.has(epoch)) taken.set(epoch, (await ask(`api/run/${epoch}`)).turns);
    const turns = taken.get(epoch);
    await prepare(run.world, run.tasks.flatMap(({ start, goal }, index) => [[turns[index].end, start], [goal, start]]));
    if (mine !== showing) return;
    cards.forEach((card, index) => card.show(turns[index], index));
  }
  byId("which").textContent = name(epoch);
  drawCurves(byId("curves"), { records: run.records, titles: run.curves, epochs: run.epochs, shown: epoch, selected: run.selected, choose: nearest });
  say();
  const scrub = byId("scrub");
  scrub.max = String(Math.max(run.followed.length - 1, 0));
  scrub.value = String(shown);
  scrub.setAttribute("aria-valuetext", capital(name(epoch)));
  byId("where").textContent = epoch === 0 ? "Before" : `Epoch ${epoch}`;
  enable(scrub, run.followed.length > 1);
  enable(byId("back"), shown > 0);
  enable(byId("forth"), shown < run.followed.length - 1);
  enable(byId("play"), run.followed.length > 1);
}

/** An instruction with its drawing, its actions, and whether the model of each epoch did it right. */
class Card {
  constructor(task, drawing, world) {
    this.task = task;
    this.world = world;
    this.verdict = make("p", { class: "verdict" });
    this.steps = make("ol", { class: "steps", "aria-label": "Actions" });
    this.strip = make("div", { class: "strip", role: "group", "aria-label": "By epoch" });
    const [does, wanted] = ["It leads to", "Wanted"].map((label) => ({ label, holder: make("div", { class: "drawing" }) }));
    this.item = make(
      "li",
      { class: "task" },
      ...task.earlier.map((text) => make("p", { class: "earlier" }, text)),
      make("p", { class: "said" }, task.instruction),
      make("div", { class: "stage two" }, ...[does, wanted].map(({ label, holder }) => make("figure", { class: "side" }, make("figcaption", {}, label), holder))),
      this.verdict,
      this.steps,
      this.strip,
    );
    this.stages = [does, wanted].map(({ holder }) => new Stage(holder, drawing));
  }

  show(turn, index) {
    const { start, goal } = this.task;
    this.stages[0].show(frameOf(this.world, turn.end, start), { mark: true, animate: true });
    this.stages[1].show(frameOf(this.world, goal, start), { mark: true });
    this.verdict.textContent = turn.right ? "Right" : turn.stopped ? "Wrong" : "It did not come to an end";
    this.verdict.classList.toggle("right", turn.right);
    this.steps.replaceChildren(
      ...turn.steps.map(({ action, words, probability }) => {
        const doubt = probability < 0.5 ? make("span", { class: "doubt" }, ` ${percent(probability)}`) : null;
        return make("li", { class: "step", title: `${action} (${percent(probability)})` }, words, doubt);
      }),
    );
    this.strip.replaceChildren(
      ...run.followed.map(({ epoch, right }, place) => {
        const said = `${capital(name(epoch))}: ${right[index] ? "right" : "wrong"}`;
        return make("button", { type: "button", class: right[index] ? "mark right" : "mark", "aria-label": said, title: said, "aria-current": place === shown ? "step" : null, tabindex: -1, click: () => choose(place) });
      }),
    );
  }
}

// Moving through the epochs.

async function choose(place, { kept = false } = {}) {
  if (!kept) pause();
  shown = Math.max(0, Math.min(run.followed.length - 1, place));
  byId("newest").checked = shown === run.followed.length - 1;
  await draw();
}

/** The epoch of which something is stored that is nearest to the given one. */
function nearest(epoch) {
  const all = epochs();
  if (all.length) choose(all.reduce((best, each, place) => (Math.abs(each - epoch) < Math.abs(all[best] - epoch) ? place : best), 0));
}

function pause() {
  clearTimeout(playing);
  playing = 0;
  byId("play").classList.remove("on");
  byId("play").setAttribute("aria-label", "Play the epochs");
}

async function play() {
  byId("play").classList.add("on");
  byId("play").setAttribute("aria-label", "Pause");
  await choose(shown + 1, { kept: true });
  if (shown >= run.followed.length - 1) pause();
  else playing = setTimeout(telling(play), PACE);
}

const telling = (act) => async (event) => {
  try {
    await act(event);
  } catch (error) {
    pause();
    if (!(error instanceof Away)) byId("problem").textContent = error.message; // of a server that is away the banner tells
  }
};

function listen() {
  const on = (id, event, act) => byId(id).addEventListener(event, telling((given) => (run && enabled(byId(id)) ? act(given) : null)));
  on("back", "click", () => choose(shown - 1));
  on("forth", "click", () => choose(shown + 1));
  on("scrub", "input", ({ target }) => choose(Number(target.value)));
  on("newest", "change", ({ target }) => (target.checked ? choose(run.followed.length - 1) : null));
  on("play", "click", async () => {
    if (playing) {
      pause();
      return;
    }
    if (shown >= run.followed.length - 1) await choose(0);
    playing = setTimeout(telling(play), PACE);
    byId("play").classList.add("on");
    byId("play").setAttribute("aria-label", "Pause");
  });
}

/** Look again as long as the run goes on; not while nobody sees it. */
async function keepLooking() {
  if (!document.hidden || !run) await telling(look)();
  if (!run?.finished) setTimeout(keepLooking, AGAIN);
}

onReturn(() => telling(look)());
listen();
keepLooking();
