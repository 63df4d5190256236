// Curves of a run: one small chart per figure, or several figures that share a scale.

import { make, makeSvg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 130;
const LEFT = 40;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

/** What is drawn together: accuracies share a scale from 0 to 100. */
const CHARTS = [
  { title: "Accuracy on validation, in percent", names: ["inst", "utts3", "utts5"], from: 0, to: 100 },
  { title: "Reward on validation", names: ["reward"] },
  { title: "Objective in training", names: ["objective"] },
];

const known = (value) => typeof value === "number";
const rounded = (value) => (Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2));

/** Draw the records; `titles` are the figures in words, `shown` is the epoch that is marked, `choose(epoch)` marks another. */
export function drawCurves(holder, { records, titles, epochs, shown, selected, choose }) {
  const last = Math.max(epochs ?? 1, records.at(-1)?.epoch ?? 1, 1);
  const across = (epoch) => LEFT + ((WIDTH - LEFT - RIGHT) * epoch) / last;
  const charts = CHARTS.map((chart) => ({ ...chart, names: chart.names.filter((name) => records.some((record) => known(record[name]))) }));
  const drawn = charts.filter(({ names }) => names.length).map((chart) => one(chart));
  holder.replaceChildren(...(drawn.length ? drawn : [make("p", { class: "empty" }, "The first epoch has not ended yet.")]));

  function one({ title, names, from, to }) {
    const values = names.flatMap((name) => records.map((record) => record[name])).filter(known);
    const low = from ?? Math.min(...values);
    const high = to ?? Math.max(...values);
    const room = high - low || 1;
    const up = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / room;
    const line = (name, index) => {
      const points = records.filter((record) => known(record[name])).map((record) => `${across(record.epoch).toFixed(1)},${up(record[name]).toFixed(1)}`);
      const style = `curve curve-${index}`;
      const end = points.at(-1).split(",");
      return [makeSvg("polyline", { class: style, points: points.join(" ") }), makeSvg("circle", { class: style, cx: end[0], cy: end[1], r: 2.6 })];
    };
    const text = (x, y, anchor, said) => makeSvg("text", { x, y, "text-anchor": anchor, class: "scale" }, said);
    const at = records.find(({ epoch }) => epoch === shown);
    const svg = makeSvg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. ${names.map((name) => summed(name)).join(" ")}`, click: pick },
      ...[low, low + room / 2, high].map((value) => makeSvg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(value), y2: up(value) })),
      ...[low, high].map((value) => text(LEFT - 6, up(value) + 4, "end", rounded(value))),
      text(LEFT, HEIGHT - 5, "middle", "0"),
      text(WIDTH - RIGHT, HEIGHT - 5, "end", `epoch ${last}`),
      selected === null ? null : makeSvg("line", { class: "selected", x1: across(selected), x2: across(selected), y1: TOP, y2: HEIGHT - BOTTOM }),
      makeSvg("line", { class: "shown", x1: across(shown), x2: across(shown), y1: TOP, y2: HEIGHT - BOTTOM }),
      ...names.flatMap(line),
    );
    const key = names.map((name, index) => make("li", {}, make("span", { class: `dot dot-${index}`, "aria-hidden": "true" }), `${titles[name] ?? name}${at && known(at[name]) ? ` ${rounded(at[name])}` : ""}`));
    return make("figure", { class: "chart" }, make("figcaption", { class: "label" }, title), svg, make("ul", { class: "key" }, ...key));

    function pick(event) {
      const { left, width } = svg.getBoundingClientRect();
      const x = ((event.clientX - left) / width) * WIDTH;
      choose(Math.round(((x - LEFT) / (WIDTH - LEFT - RIGHT)) * last));
    }
  }

  function summed(name) {
    const values = records.map((record) => record[name]).filter(known);
    return `${titles[name] ?? name}: ${rounded(values[0])} after the first epoch, ${rounded(values.at(-1))} now.`;
  }
}

/** All figures of all epochs, for those who read rather than look. */
export function fillTable(table, records, titles) {
  const names = Object.keys(titles).filter((name) => records.some((record) => known(record[name])));
  const row = (cell, each) => make("tr", {}, ...each.map((text, index) => make(index ? cell : "th", { scope: cell === "th" ? "col" : index ? null : "row" }, text)));
  table.replaceChildren(
    make("thead", {}, row("th", ["Epoch", ...names.map((name) => titles[name])])),
    make("tbody", {}, ...records.map((record) => row("td", [String(record.epoch), ...names.map((name) => (known(record[name]) ? rounded(record[name]) : "–"))]))),
  );
}
