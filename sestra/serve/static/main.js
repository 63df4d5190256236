// The page: worlds and agents to choose from, instructions to give, and every control's wire.

import { Away, Refused, ask, onReturn, post } from "./api.js";
import { announce, byId, capital, enabled, make } from "./dom.js";
import { Editor } from "./editor.js";
import { copyLink, saveJson, saveSvg } from "./export.js";
import { frameOf, prepare, prepareTurns } from "./frames.js";
import { fromFragment, toFragment } from "./link.js";
import { connect, draw, move, scrub, shrink, stage, toEnd, toggle } from "./player.js";
import { add, begin, current, exchange, now, onSession, resolve, suppose, undo } from "./session.js";
import { suggest } from "./suggestions.js";

/** What the server offers; filled once. */
let offered = { worlds: [], attention: {}, limits: {} };
/** Drawings and examples by world, as far as they were needed. */
const known = new Map();
let following = false;
const BUSY = "The instruction before is still being followed; say this one again in a moment.";
let changing = 0;

const summary = (name) => offered.worlds.find((world) => world.name === name);
const fragment = () => toFragment(current(), summary(current().world).agent);

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

const editor = new Editor(
  byId("brushes"),
  byId("edit"),
  async (state, place, brush) => {
    const { world } = current();
    const edited = (await post("api/edit", { world, state, place, brush })).state;
    if (edited === null || current().world !== world) return null;
    await prepare(world, [[edited, edited]]);
    begin({ ...current(), start: edited, turns: [], next: [] }, { animate: true });
    return frameOf(world, edited);
  },
  (error) => complain(error.message),
);

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

/** What an agent does with an instruction after some turns; `actions` are those that it has to begin with. */
const follow = ({ world, start, turns, how }, instruction, { agent, seed = null, actions = [] }) =>
  post("api/follow", {
    world,
    state: turns.at(-1)?.did.end ?? start,
    history: turns.filter(({ did }) => did.understood).map(({ did }) => ({ state: did.start, instruction: did.instruction })),
    instruction,
    agent,
    how,
    seed: how === "sample" ? seed : null,
    actions,
  });

/** One more turn of a session, with what the agent beside it would do in the same place; `chosen` are the actions of a reading. */
async function turnOf(session, { instruction, seed = Math.floor(Math.random() * 2 ** 31), chosen = [] }) {
  const asked = [follow(session, instruction, { agent: session.agent, seed, actions: chosen })];
  if (session.other) asked.push(follow(session, instruction, { agent: session.other, seed }));
  const [did, other = null] = await Promise.all(asked);
  await prepareTurns(session.world, other ? [did, other] : [did]);
  return { did, other, seed, chosen };
}

/** Have a reading of the last instruction carried out. */
const mean = telling(async ({ actions }) => {
  const asked = current();
  const { did, seed } = asked.turns.at(-1);
  const turn = await turnOf({ ...asked, turns: asked.turns.slice(0, -1) }, { instruction: did.instruction, seed, chosen: actions });
  if (current() === asked) resolve(turn);
  byId("instruction").focus();
});

async function instruct(text) {
  const instruction = text.trim();
  const problem = objection(instruction) || (following ? BUSY : "");
  complain(problem);
  if (problem) return;
  const asked = current();
  busy(true);
  try {
    const turn = await turnOf(asked, { instruction });
    if (current() !== asked) return;
    if (byId("instruction").value.trim() === instruction) byId("instruction").value = "";
    editor.set(false, stage());
    add(turn);
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

/** Show what would have followed if the agent had taken another action. */
const whatIf = telling(async ({ turn: number, agent, action, actions }) => {
  const asked = current();
  const before = { ...asked, turns: asked.turns.slice(0, number) };
  const { did: then, seed } = asked.turns[number];
  const did = await follow(before, then.instruction, { agent, seed, actions });
  await prepareTurns(asked.world, [did]);
  if (current() !== asked) return;
  announce("What would have followed.");
  suppose({ turn: number, at: actions.length - 1, action, did });
});

// Beginning.

/** Fetch what a world needs, once. */
async function fetched(name) {
  if (!known.has(name)) {
    const [drawing, { examples }] = await Promise.all([ask("api/drawing", { world: name }), ask("api/examples", { world: name })]);
    known.set(name, { drawing, examples, actions: summary(name).actions, attentions: offered.attention });
  }
  return known.get(name);
}

/** What stands around the drawing belongs to the session's world and agents. */
function surround({ world, agent, how, other }) {
  check(world);
  const { agents } = summary(world);
  const about = agents.find(({ name }) => name === agent).description;
  byId("about").textContent = `Agent: ${agent}${about ? ` (${about})` : ""}`;
  byId("linked").hidden = true;
  const { examples } = known.get(world);
  options("examples", "", [["", "Examples"], ...examples.map(({ title }, index) => [index, capital(title)])]);
  options("agent", agent, agents.map(({ name, label, description }) => [name, label, description]));
  options("other", other ?? "", [["", "Compare with …"], ...agents.filter(({ name }) => name !== agent).map(({ name, label, description }) => [name, label, description])]);
  byId("how").value = how;
  byId("agent").parentElement.hidden = byId("other").parentElement.hidden = agents.length < 2;
}

function options(id, chosen, each) {
  byId(id).replaceChildren(...each.map(([value, text, title]) => make("option", { value, title }, text)));
  byId(id).value = chosen;
}

function check(name) {
  for (const input of byId("worlds").querySelectorAll("input")) input.checked = input.value === name;
}

/** Begin from an example, in the same world with the same agents. */
async function start(world, example) {
  const mine = ++changing;
  await prepare(world, [[example.state, example.state]]);
  if (mine !== changing) return;
  const { agent, how, other } = current()?.world === world ? current() : { agent: summary(world).agent, how: current()?.how ?? "greedy", other: null };
  begin({ world, agent, how, other, start: example.state, turns: [], next: example.instructions });
}

async function changeWorld(name) {
  const mine = ++changing;
  try {
    const { examples } = await fetched(name);
    if (mine !== changing) return;
    await start(name, examples[0]);
    announce(`${summary(name).title}.`);
  } catch (error) {
    check(current()?.world);
    complain(error.message);
  }
}

async function randomState() {
  const { world } = current();
  const mine = ++changing;
  const { examples } = await ask("api/examples", { world, count: 1, seed: Math.floor(Math.random() * 2 ** 31) });
  if (mine !== changing) return;
  await start(world, { ...examples[0], instructions: [] });
  announce("A random state.");
}

/** A session in which all this was said, each followed again; and what stood in the way, if anything. */
async function followAll(begun, said) {
  let made = { ...begun, turns: [] };
  for (const [number, each] of said.entries()) {
    try {
      made = { ...made, turns: [...made.turns, await turnOf(made, each)] };
    } catch (error) {
      return { made: { ...made, next: said.slice(number).map(({ instruction }) => instruction) }, problem: error.message };
    }
  }
  return { made, problem: "" };
}

/** Follow the interaction again, by another agent or in another way. */
const change = (what) =>
  telling(async (event) => {
    const mine = ++changing;
    const before = current();
    const wanted = { ...before, ...what(event.target.value, before) };
    const { made, problem } = await followAll(wanted, before.turns.map(({ did, seed, chosen }) => ({ instruction: did.instruction, seed, chosen })));
    if (mine !== changing || current() !== before) return;
    exchange(made);
    complain(problem);
    if (made.turns.length) announce(`Followed again by ${made.agent}.`);
  });

/** Bring back what a link says, by saying it all again. */
async function restore({ world, start: state, said, end, agent, other, how }) {
  const mine = ++changing;
  await fetched(world);
  try {
    await prepare(world, [state, ...(end === null ? [] : [end])].map((each) => [each, each]));
  } catch (error) {
    throw error instanceof Refused ? new Error(`The link’s state is not one of ${summary(world).title}.`) : error;
  }
  const { made, problem } = await followAll({ world, agent, how, other, start: state, next: [] }, said);
  if (mine !== changing) return;
  begin(made);
  if (problem) complain(`Only a part of the link could be restored: ${problem}`);
  else if (end !== null && now() !== end) complain("The agent here ends in another state than the one that the link was made with.");
  announce(`Restored ${made.turns.length} turns.`);
}

async function open() {
  let problem = "";
  try {
    const wanted = fromFragment(location.hash, offered.worlds, offered.limits);
    if (wanted) {
      await restore(wanted);
      return;
    }
  } catch (error) {
    problem = error.message;
  }
  if (!current()) await changeWorld(offered.worlds[0].name);
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
  on("scrub", "input", (event) => scrub(Number(event.target.value)));
  on("apart", "change", () => {
    shrink();
    draw();
  });
  on("random", "click", randomState);
  on("edit", "click", () => {
    editor.set(!editor.on, stage());
    toEnd();
  });
  on("undo", "click", () => {
    undo();
    announce("Undone.");
  });
  on("examples", "change", (event) => {
    const { world } = current();
    const example = event.target.value === "" ? null : known.get(world).examples[Number(event.target.value)];
    return example ? start(world, example) : null;
  });
  on("agent", "change", change((agent, { agent: before, other }) => ({ agent, other: other === agent ? before : other })));
  on("other", "change", change((other) => ({ other: other || null })));
  on("how", "change", change((how) => ({ how })));
  on("link", "click", () => copyLink(fragment()));
  on("json", "click", saveJson);
  on("svg", "click", saveSvg);
  on("skip", "click", (event) => {
    event.preventDefault();
    byId("instruction").focus();
  });
  window.addEventListener("hashchange", telling(open));
}

async function prepareAll() {
  connect({ dress: (world) => known.get(world), staged: (state) => editor.offer(state, frameOf(current().world, state)), follow: whatIf, mean });
  onSession((before, { supposing = false }) => {
    const session = current();
    if (supposing) return;
    complain("");
    surround(session);
    if (before?.world !== session.world) editor.set(editor.on, stage());
    editor.offer(now(), frameOf(session.world, now()));
    suggest(instruct);
    try {
      history.replaceState(null, "", fragment());
    } catch {
      // a browser may find it too often; the link button makes the address anew
    }
  });
  offered = await ask("api/worlds");
  byId("watch").hidden = !offered.watched;
  byId("watch").textContent = `Watch ${offered.watched} learn`;
  byId("worlds").append(
    ...offered.worlds.map(({ name, title }) =>
      make("label", {}, make("input", { type: "radio", name: "world", value: name, change: () => changeWorld(name) }), make("span", {}, title)),
    ),
  );
  await open();
}

onReturn(() => {
  if (current()) suggest(instruct);
  else location.reload();
});
listen();
telling(prepareAll)();
