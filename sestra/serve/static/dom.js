// Elements made without markup: text is only ever text.

export const byId = (id) => document.getElementById(id);

/** An element with attributes (functions are listeners, null and false leave one out) and children. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A control that has nothing to do now says so, but keeps the keyboard's focus. */
export function enable(control, is) {
  if (is) control.removeAttribute("aria-disabled");
  else control.setAttribute("aria-disabled", "true");
}

export const enabled = (control) => control.getAttribute("aria-disabled") !== "true";

export function percent(part) {
  return part > 0 && part < 0.005 ? "<1%" : part > 0.995 && part < 1 ? ">99%" : `${Math.round(part * 100)}%`;
}

export const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

let announced = null;

/** Say something to those who listen rather than look. */
export function announce(text) {
  announced ??= byId("announcer");
  announced.append(make("p", {}, text));
  while (announced.children.length > 20) announced.firstChild.remove();
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
