// The whole interaction in the address, after the #: readable, and believed only as far as it can be checked.

const HOW = ["greedy", "sample", "beam"];

/** World, start state, who acts and how, what was said, and the state that it led to. What is usual is left out. */
export function toFragment(session, usual) {
  const fields = new URLSearchParams({ world: session.world, state: session.start });
  if (session.agent !== usual) fields.append("agent", session.agent);
  if (session.how !== "greedy") fields.append("how", session.how);
  if (session.other) fields.append("with", session.other);
  session.turns.forEach(({ did, seed, chosen }, number) => {
    fields.append("do", did.instruction);
    if (session.how === "sample") fields.append("seed", String(seed));
    if (chosen.length) fields.append("as", [number + 1, ...chosen].join(","));
  });
  if (session.turns.length) fields.append("end", session.turns.at(-1).did.end);
  return `#${fields}`;
}

/** What a fragment says, or null where there is none; throws an Error with a sentence where it makes no sense. States are the server's to check. */
export function fromFragment(fragment, worlds, limits) {
  const text = fragment.replace(/^#/, "");
  if (!text) return null;
  if (text.length > limits.body) throw new Error("The link is too long to be one of this page’s.");
  const fields = new URLSearchParams(text);
  const world = worlds.find(({ name }) => name === fields.get("world"));
  if (!world) throw new Error(`The link is for a world that this server has no agent for. There is ${worlds.map(({ name }) => name).join(", ")}.`);
  const start = fields.get("state") ?? "";
  const end = fields.get("end");
  if (!fields.has("state") || Math.max(start.length, end?.length ?? 0) > world.state_length) throw new Error(`The link’s state is not one of ${world.title}.`);
  const instructions = fields.getAll("do");
  if (instructions.length > limits.history + 1) throw new Error(`The link has more than ${limits.history + 1} instructions.`);
  if (instructions.some((instruction) => !instruction.trim() || instruction.length > limits.instruction)) {
    throw new Error(`An instruction in the link is empty or longer than ${limits.instruction} characters.`);
  }
  const agents = world.agents.map(({ name }) => name);
  const [agent, other, how] = [fields.get("agent") ?? world.agent, fields.get("with"), fields.get("how") ?? "greedy"];
  for (const name of [agent, other ?? agent]) if (!agents.includes(name)) throw new Error(`The link is for an agent that this server does not have. There is ${agents.join(", ")}.`);
  if (!HOW.includes(how)) throw new Error(`The link’s way of choosing actions is not one of ${HOW.join(", ")}.`);
  const seeds = fields.getAll("seed").map(Number);
  if (seeds.some((seed) => !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31)) throw new Error("A seed in the link is no number.");
  const chosen = new Map(fields.getAll("as").map((text) => text.split(",")).map(([number, ...actions]) => [Number(number), actions]));
  const said = instructions.map((instruction, number) => ({ instruction, seed: seeds[number], chosen: chosen.get(number + 1) ?? [] }));
  return { world: world.name, start, said, end, agent, other, how };
}
