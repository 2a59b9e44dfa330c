// Keyboard shortcuts: everything works without a pointer.

import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { closed, go, here } from "./router.js";
import { undoLast } from "./toast.js";

const KEYS = [
  ["/", "search"],
  ["j  k  ↓  ↑", "next and previous in a list"],
  ["Enter", "open"],
  ["w", "why this result"],
  ["c  x", "confirm and reject the pair under review"],
  ["e", "edit the open note"],
  ["Delete", "move the open note to the trash"],
  ["u", "undo"],
  ["Esc", "close, or leave the field"],
  ["g then s b t r i a h p", "search, browse, timeline, review, brief (instructions), add, health, settings (preferences)"],
  ["?", "this list"],
];
const VIEWS = { s: "search", b: "browse", t: "timeline", r: "review", i: "brief", a: "add", h: "health", p: "settings" };
const OFF = "nur.keys.off";

export const keysAreOff = () => localStorage.getItem(OFF) !== null;
export const setKeysOff = (off) => (off ? localStorage.setItem(OFF, "1") : localStorage.removeItem(OFF));

export function showKeys() {
  const rows = KEYS.map(([keys, does]) => h("div", {}, h("dt", {}, keys.split("  ").map((key) => h("kbd", {}, key))), h("dd", {}, does)));
  const close = h("form", { method: "dialog" }, h("button", { class: "primary" }, "Close"));
  return dialog("Keys", [h("dl", { class: "keys" }, rows), close]);
}

const isTyping = (target) => target.matches?.("input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea, select");

/** Move the focus by `step` items in the list. */
function move(step) {
  const items = [...document.querySelectorAll("[data-item]")].filter((item) => item.checkVisibility());
  if (!items.length) return false;
  const at = items.indexOf(document.activeElement.closest?.("[data-item]") ?? document.activeElement.closest?.("li, tr")?.querySelector("[data-item]"));
  const next = items[Math.min(Math.max(at + step, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function press(selector) {
  const found = document.querySelector(selector);
  found?.click();
  return Boolean(found);
}

/** Click a decision of the focused pair, or else of the first one. */
function decide(selector) {
  const row = document.activeElement.closest?.(".review") ?? document.querySelector(".review");
  const found = row?.querySelector(selector);
  found?.click();
  return Boolean(found);
}

function escape() {
  if (document.querySelector("#detail form [data-cancel]")) return press("#detail form [data-cancel]");
  if (here().params.open) {
    location.hash = closed();
    return true;
  }
  if (isTyping(document.activeElement)) document.activeElement.blur();
  return false;
}

const ACTIONS = {
  "/": () => {
    document.getElementById("query").select();
    document.getElementById("query").focus();
    return true;
  },
  "?": () => {
    showKeys();
    return true;
  },
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  w: () => {
    const row = document.activeElement.closest("li") ?? document;
    row.querySelector("[data-why]")?.click();
    return true;
  },
  c: () => decide("[data-confirm]"),
  x: () => decide("[data-reject]"),
  e: () => press("#detail [data-edit]"),
  Delete: () => press("#detail [data-delete]"),
  u: () => {
    undoLast();
    return true;
  },
};

let leading = false;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = isTyping(event.target);
  if (event.key === "Escape") escape();
  else if (event.key === "ArrowDown" && event.target.id === "query") move(1) && event.preventDefault();
  else if (typing || keysAreOff()) return;
  else if (leading && VIEWS[event.key]) go(VIEWS[event.key]);
  else if (ACTIONS[event.key]?.()) event.preventDefault();
  leading = event.key === "g" && !typing;
}

export function listen() {
  document.addEventListener("keydown", onKey);
}
