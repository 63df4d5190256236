// The page: worlds to choose from, instructions to give, and every control's wire.

import { Away, ask, onReturn, post } from "./api.js";
import { add, begin, capital, choose, current, dressFrom, edit, move, now, onSession, toggle, undo } from "./session.js";
import { announce, byId, enabled, make } from "./dom.js";
import { copyLink, saveJson, saveSvg } from "./export.js";
import { fromFragment } from "./link.js";
import { worldOf } from "./worlds.js";

/** What the server offers; filled once. */
let offered = { worlds: [], attention: {}, limits: {} };
/** Drawings and examples by world, as far as they were needed. */
const known = new Map();
let following = false;
const BUSY = "The instruction before is still being followed; say this one again in a moment.";
let changing = 0;
let suggesting = 0;
let seed = 0;

const summary = (name) => offered.worlds.find((world) => world.name === name);

function complain(text) {
  byId("problem").textContent = text;
  if (text) byId("instruction").setAttribute("aria-invalid", "true");
  else byId("instruction").removeAttribute("aria-invalid");
}

/** A listener that says what went wrong in it. */
const telling = (act) => async (event) => {
  try {
    await act(event);
  } catch (error) {
    complain(error.message);
  }
};

// Saying something.

function objection(instruction) {
  const { limits } = offered;
  if (!instruction) return "Write an instruction first, or pick one below.";
  if (instruction.length > limits.instruction) {
    return `That is ${instruction.length.toLocaleString("en")} characters long; at most ${limits.instruction.toLocaleString("en")} can be read.`;
  }
  if (current().turns.length > limits.history) return `An interaction has at most ${limits.history + 1} turns: undo one, or begin anew.`;
  return "";
}

const follow = ({ world, start, turns }, instruction) =>
  post("api/follow", {
    world,
    state: turns.at(-1)?.end ?? start,
    history: turns.map((turn) => ({ state: turn.start, instruction: turn.instruction })),
    instruction,
  });

async function instruct(text) {
  const instruction = text.trim();
  const problem = objection(instruction) || (following ? BUSY : "");
  complain(problem);
  if (problem) return;
  const asked = current();
  busy(true);
  try {
    const turn = await follow(asked, instruction);
    if (current() !== asked) return;
    if (byId("instruction").value.trim() === instruction) byId("instruction").value = "";
    add(turn, instruction);
  } catch (error) {
    if (current() === asked) byId("instruction").value = text;
    complain(error instanceof Away ? "The server does not answer; the instruction stays here until it does." : error.message);
  } finally {
    busy(false);
    if (byId("problem").textContent === BUSY) complain("");
  }
}

function busy(is) {
  following = is;
  byId("form").setAttribute("aria-busy", String(is));
}

async function suggest() {
  const mine = ++suggesting;
  const asked = current();
  const parameters = { world: asked.world, state: now(), spoken: asked.turns.length > 0, seed };
  const found = await ask("api/suggestions", parameters).then(({ suggestions }) => suggestions, () => []); // if none, the banner says why
  if (mine !== suggesting) return;
  const next = asked.next.slice(0, 1);
  const others = found.filter((text) => !next.includes(text)).slice(0, next.length ? 3 : 4);
  const chip = (text, kind) => make("li", {}, make("button", { type: "button", class: kind, click: () => instruct(text) }, text));
  show([...next.map((text) => chip(text, "next")), ...others.map((text) => chip(text, null))]);
}

/** New suggestions before the button for others, which stays; who stood on an old one stands on the first new one. */
function show(chips) {
  const list = byId("suggestions");
  if (!list.children.length) list.append(make("li", {}, more()));
  const last = list.lastElementChild;
  const held = list.contains(document.activeElement) && !last.contains(document.activeElement);
  while (list.firstElementChild !== last) list.firstElementChild.remove();
  last.before(...chips);
  if (held) list.querySelector("button").focus();
}

function more() {
  const others = async () => {
    seed += 1;
    await suggest();
    announce("Other suggestions.");
  };
  return make("button", { type: "button", class: "more", "aria-label": "Other suggestions", title: "Other suggestions", click: others }, "↻");
}

// Beginning.

/** Fetch what a world needs, once. */
async function fetched(name) {
  if (!known.has(name)) {
    const [drawing, { examples }] = await Promise.all([ask("api/drawing", { world: name }), ask("api/examples", { world: name })]);
    known.set(name, { drawing, examples, actions: summary(name).actions, attentions: offered.attention });
  }
  return known.get(name);
}

/** What stands around the drawing belongs to the session's world. */
function surround({ world }) {
  check(world);
  byId("about").textContent = `Agent: ${summary(world).agent}`;
  byId("linked").hidden = true;
  const { examples } = known.get(world);
  const select = byId("examples");
  select.replaceChildren(
    make("option", { value: "" }, "Examples"),
    ...examples.map(({ title }, index) => make("option", { value: index }, capital(title))),
  );
  select.onchange = () => {
    const example = select.value === "" ? null : examples[Number(select.value)];
    if (example) start(world, example);
  };
}

function check(name) {
  for (const input of byId("worlds").querySelectorAll("input")) input.checked = input.value === name;
}

function start(world, example) {
  begin({ world, start: example.state, turns: [], next: example.instructions });
}

async function changeWorld(name) {
  const mine = ++changing;
  try {
    const { examples } = await fetched(name);
    if (mine !== changing) return;
    start(name, examples[0] ?? { state: "", instructions: [] });
    announce(`${worldOf(name).title}.`);
  } catch (error) {
    if (mine === changing) check(current()?.world);
    complain(error.message);
  }
}

async function randomState() {
  const { world } = current();
  const mine = ++changing;
  const { examples } = await ask("api/examples", { world, count: 1, seed: Math.floor(Math.random() * 2 ** 31) });
  if (mine !== changing || !examples.length) return;
  start(world, { ...examples[0], instructions: [] });
  announce("A random state.");
}

/** Bring back what a link says, by saying it all again. */
async function restore(wanted) {
  const mine = ++changing;
  await fetched(wanted.world);
  let made = { world: wanted.world, start: wanted.start, turns: [], next: [] };
  let problem = "";
  for (const instruction of wanted.instructions) {
    try {
      made = { ...made, turns: [...made.turns, await follow(made, instruction)] };
    } catch (error) {
      problem = `Only a part of the link could be restored: ${error.message}`;
      break;
    }
  }
  if (mine !== changing) return;
  begin({ ...made, next: wanted.instructions.slice(made.turns.length) });
  if (!problem && wanted.end !== null && now() !== wanted.end) {
    problem = "The agent here ends in another state than the one that the link was made with.";
  }
  complain(problem);
  announce(`Restored ${made.turns.length} turns.`);
}

async function open() {
  let wanted = null;
  let problem = "";
  try {
    wanted = fromFragment(location.hash, offered.worlds.map(({ name }) => name), offered.limits);
  } catch (error) {
    problem = error.message;
  }
  if (wanted) await restore(wanted);
  else if (!current()) await changeWorld(offered.worlds[0].name);
  if (problem) complain(problem);
}

function listen() {
  const on = (id, name, act) => byId(id).addEventListener(name, telling((event) => (current() && enabled(byId(id)) ? act(event) : null)));
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  on("form", "submit", () => instruct(byId("instruction").value));
  on("instruction", "input", () => complain(""));
  on("back", "click", () => move(-1));
  on("forth", "click", () => move(1));
  on("play", "click", toggle);
  on("scrub", "input", (event) => choose(Number(event.target.value), { aloud: false }));
  on("random", "click", randomState);
  on("edit", "click", edit);
  on("undo", "click", undo);
  on("link", "click", copyLink);
  on("json", "click", saveJson);
  on("svg", "click", saveSvg);
  on("skip", "click", (event) => {
    event.preventDefault();
    byId("instruction").focus();
  });
  window.addEventListener("hashchange", telling(open));
}

async function prepare() {
  dressFrom((world) => known.get(world));
  onSession((session) => {
    complain("");
    surround(session);
    suggest();
  });
  offered = await ask("api/worlds");
  byId("worlds").append(
    ...offered.worlds.map(({ name }) =>
      make("label", {}, make("input", { type: "radio", name: "world", value: name, change: () => changeWorld(name) }), make("span", {}, worldOf(name).title)),
    ),
  );
  await open();
}

onReturn(() => {
  if (current()) suggest();
  else location.reload();
});
listen();
telling(prepare)();
