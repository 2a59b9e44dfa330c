// Elements without markup: text becomes text nodes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element: `h("a", {href: "#/", onclick: go}, "Home")`. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An element of a drawing. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Put these nodes, and nothing else, into an element. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Tell screen readers what changed. */
export function announce(message) {
  document.getElementById("announcer").textContent = message;
}

/** A button. `quiet` ones look like links. */
export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const named = (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** What is stored, as one line: direction marks are shown instead of obeyed, so that a name cannot pose as another. */
export function plain(text) {
  return String(text).replace(DIRECTION_MARKS, named).replace(/\s+/g, " ");
}

/** The same within other words, whose direction it does not change. */
export function line(text) {
  return h("bdi", {}, plain(text));
}

/** A link to the web, if the address is one; other schemes stay text. */
export function webLink(address) {
  const parsed = URL.canParse(address) ? new URL(address) : null;
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) return line(address);
  return h("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer" }, line(address));
}

/** A message in place of content: nothing here, or something went wrong. */
export function placeholder(title, text, ...more) {
  return h("div", { class: "placeholder" }, h("h2", {}, title), text && h("p", {}, text), ...more);
}

/** What went wrong, with a way to try again. */
export function failure(problem, retry) {
  const more = retry ? [button("Try again", retry)] : [];
  return h("div", { class: "placeholder failure", role: "alert" }, h("h2", {}, problem.title ?? "Something went wrong"), h("p", {}, problem.message), ...more);
}
