// Taking the interaction along: as a link, as JSON, as a picture.

import { postForText } from "./api.js";
import { current, now } from "./session.js";
import { announce, byId, make } from "./dom.js";
import { toFragment } from "./link.js";

export async function copyLink() {
  const address = location.href.split("#")[0] + toFragment(current());
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
  const { world, start, turns } = current();
  save(`${JSON.stringify({ world, start, turns, final_state: now() }, null, 1)}\n`, "application/json", "json");
}

export async function saveSvg() {
  const { world, start, turns } = current();
  const frames = [{ caption: "", state: start }, ...turns.map((turn) => ({ caption: turn.instruction, state: turn.end }))];
  save(await postForText("api/picture", { world, frames }), "image/svg+xml", "svg");
}

function save(text, type, ending) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: `sestra-${current().world}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
