// Instructions to pick: what the example says next, and others that make sense in the state.

import { ask } from "./api.js";
import { announce, byId, make } from "./dom.js";
import { current, now } from "./session.js";

let asking = 0;
let seed = 0;

/** Offer instructions for the session as it is now; `instruct(text)` is called with the one that is picked. */
export async function suggest(instruct) {
  const mine = ++asking;
  const asked = current();
  const parameters = { world: asked.world, state: now(), spoken: asked.turns.length > 0, seed };
  const found = await ask("api/suggestions", parameters).then(({ suggestions }) => suggestions, () => []); // if none, the banner says why
  if (mine !== asking) return;
  const next = asked.next.slice(0, 1);
  const others = found.filter((text) => !next.includes(text)).slice(0, next.length ? 3 : 4);
  const chip = (text, kind) => make("li", {}, make("button", { type: "button", class: kind, click: () => instruct(text) }, text));
  show([...next.map((text) => chip(text, "next")), ...others.map((text) => chip(text, null))], instruct);
}

/** New suggestions before the button for others, which stays; who stood on an old one stands on the first new one. */
function show(chips, instruct) {
  const list = byId("suggestions");
  if (!list.children.length) list.append(make("li", {}, more(instruct)));
  const last = list.lastElementChild;
  const held = list.contains(document.activeElement) && !last.contains(document.activeElement);
  while (list.firstElementChild !== last) list.firstElementChild.remove();
  last.before(...chips);
  if (held) list.querySelector("button").focus();
}

function more(instruct) {
  const others = async () => {
    seed += 1;
    await suggest(instruct);
    announce("Other suggestions.");
  };
  return make("button", { type: "button", class: "more", "aria-label": "Other suggestions", title: "Other suggestions", click: others }, "↻");
}
