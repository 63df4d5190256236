// Questions to the server, and what happens while it does not answer.

import { byId } from "./dom.js";

const PATIENCE = 20_000;
const AGAIN = [500, 1000, 2000, 3000];

/** The server said no, and why. */
export class Refused extends Error {}

/** The server did not say anything. */
export class Away extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

export const ask = (path, parameters = {}) => json(send(`${path}?${new URLSearchParams(parameters)}`));

export const post = (path, body) => json(send(path, body));

export async function postForText(path, body) {
  return (await send(path, body)).text();
}

async function json(sent) {
  const answer = await sent;
  try {
    return await answer.json();
  } catch {
    lost();
    throw new Away();
  }
}

/** The key of a server that needs one: from #key=... in the address, which is then taken out of it, or from earlier in this tab. */
const key = (() => {
  const fields = new URLSearchParams(location.hash.slice(1));
  const given = fields.get("key");
  if (given === null) return sessionStorage.getItem("key");
  sessionStorage.setItem("key", given);
  fields.delete("key");
  history.replaceState(null, "", fields.size ? `#${fields}` : location.pathname);
  return given;
})();

async function send(path, body) {
  const headers = key === null ? {} : { Authorization: `Bearer ${key}` };
  const options = { headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(path, { ...options, signal: AbortSignal.timeout(PATIENCE) });
  } catch {
    lost();
    throw new Away();
  }
  if (answer.ok) return answer;
  let reason = `The server refused (${answer.status}).`;
  try {
    const refusal = await answer.json();
    if (Array.isArray(refusal.problems) && refusal.problems.length) reason = refusal.problems.map((problem) => problem.reason).join("; ");
  } catch {
    // a proxy's page, say: the status will do
  }
  throw new Refused(reason);
}

let waiting = false;
const returns = [];

/** What to do when the server is there again. */
export const onReturn = (listener) => returns.push(listener);

function lost() {
  if (waiting) return;
  waiting = true;
  const banner = byId("connection");
  banner.classList.remove("good");
  banner.textContent = "The server does not answer. Nothing is lost: this page keeps the interaction, and goes on when the server is back.";
  look(0);
}

function look(attempt) {
  setTimeout(async () => {
    try {
      const answer = await fetch("healthz", { signal: AbortSignal.timeout(3000), cache: "no-store" });
      if (!answer.ok) throw new Error("not yet");
    } catch {
      look(attempt + 1);
      return;
    }
    waiting = false;
    const banner = byId("connection");
    banner.classList.add("good");
    banner.textContent = "The server is back.";
    setTimeout(() => {
      if (!waiting) banner.textContent = "";
    }, 2500);
    for (const listener of returns) listener();
  }, AGAIN[Math.min(attempt, AGAIN.length - 1)]);
}
