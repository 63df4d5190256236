// Taking the interaction along: as a link, as JSON, as a picture.

import { postForText } from "./api.js";
import { announce, byId, make } from "./dom.js";
import { current, now } from "./session.js";

/** `fragment` says the interaction, in whatever address the page has. */
export async function copyLink(fragment) {
  const address = location.href.split("#")[0] + fragment;
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    byId("linked").hidden = false;
    byId("address").value = address;
    byId("address").select();
    return;
  }
  flash(byId("link"), "Copied");
  announce("The link was copied.");
}

function flash(button, text) {
  const usual = button.textContent;
  if (usual === text) return;
  button.textContent = text;
  setTimeout(() => {
    button.textContent = usual;
  }, 1500);
}

export function saveJson() {
  const { world, start, agent, how, turns } = current();
  const trace = { world, start, turns: turns.map(({ did }) => did), final_state: now(), agent, how };
  save(`${JSON.stringify(trace, null, 1)}\n`, "application/json", "json");
}

export async function saveSvg() {
  const { world, start, turns } = current();
  const frames = [{ caption: "", state: start }, ...turns.map(({ did }) => ({ caption: did.instruction, state: did.end }))];
  save(await postForText("api/picture", { world, frames }), "image/svg+xml", "svg");
}

function save(text, type, ending) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: `sestra-${current().world}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
