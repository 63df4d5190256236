// Why a step was taken: what else might have been done, and what was attended to.

import { attention } from "./attention.js";
import { byId, make, percent } from "./dom.js";
import { kept } from "./turns.js";

const WORTH_SHOWING = 0.005;

/** Fill the panel for a step of the last of these turns; `say` puts an action into words, `tell.follow` shows what another would have led to. */
export function inspect(turns, step, { say, attentions, apart, whose, follow }) {
  const idle = kept(turns.at(-1));
  const given = idle ? [] : step.attention.filter(({ heads }) => heads.some((head) => head.some(({ weight }) => weight > 0)));
  const inOrder = ["words", "objects"].flatMap((over) => given.filter((attended) => attended.over === over));
  const title = (name) => (Object.hasOwn(attentions, name) ? attentions[name] : name.replaceAll("_", " "));
  const several = inOrder.some(({ heads }) => heads.length > 1);
  byId("whose").textContent = whose ? `, ${whose}` : "";
  byId("choices").replaceChildren(...(idle ? [make("p", { class: "hardly" }, "The agent did not understand the instruction, so it was kept from acting.")] : [choices(step, say, follow)]));
  byId("attended").replaceChildren(...inOrder.map((attended) => attention(attended, turns, title(attended.name), apart)));
  byId("no-attention").hidden = idle || inOrder.length > 0;
  byId("inspector").classList.toggle("idle", idle);
  byId("apart").closest("label").hidden = !several;
}

function choices(step, say, follow) {
  const others = step.alternatives.filter(({ probability }, index) => index < 3 || probability >= WORTH_SHOWING);
  const row = (action, probability, words) => {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--part", String(probability));
    return make("li", {}, words, make("span", { class: "figure" }, percent(probability)), bar);
  };
  const taken = make("span", { class: "choice taken", title: step.action }, say(step.action), make("span", { class: "unseen" }, " (taken)"));
  const other = (action) =>
    make(
      "button",
      {
        type: "button",
        class: "choice",
        title: `${action}: see what would have followed`,
        mousedown: (event) => event.preventDefault(), // else the step that is looked into would lose the focus, and this button its place
        click: () => follow(action),
      },
      say(action),
    );
  return make("ol", {}, row(step.action, step.probability, taken), ...others.map(({ action, probability }) => row(action, probability, other(action))));
}
