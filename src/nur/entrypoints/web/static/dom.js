// Create DOM elements; text becomes text nodes, never HTML.

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

/** An SVG element. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Replace an element's children with these nodes. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Announce a message to screen readers. */
export function announce(message) {
  document.getElementById("announcer").textContent = message;
}

/** A button. `quiet` ones look like links. */
export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const visible = (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** Stored text as one line, with direction marks made visible, so that one name cannot look like another. */
export function plain(text) {
  return String(text).replace(DIRECTION_MARKS, visible).replace(/\s+/g, " ");
}

/** Like `plain`, as an element that does not change the direction of the text around it. */
export function line(text) {
  return h("bdi", {}, plain(text));
}

/** A link for an http or https address; other addresses stay text. */
export function webLink(address) {
  const parsed = URL.canParse(address) ? new URL(address) : null;
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) return line(address);
  return h("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer" }, line(address));
}

/** A message in place of content. */
export function placeholder(title, text, ...more) {
  return h("div", { class: "placeholder" }, h("h2", {}, title), text && h("p", {}, text), ...more);
}

/** An error message, with a button if it can be retried. */
export function failure(problem, retry) {
  const more = retry ? [button("Try again", retry)] : [];
  return h("div", { class: "placeholder failure", role: "alert" }, h("h2", {}, problem.title ?? "Something went wrong"), h("p", {}, problem.message), ...more);
}
