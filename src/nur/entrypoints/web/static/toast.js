// What was just done, and how to undo it. It stays until it is dismissed or something else is done.

import { button, replace } from "./dom.js";

const box = () => document.getElementById("toast");
let undo = null;

/** Say what was done; `undoing` takes it back. */
export function toast(message, undoing = null) {
  undo = undoing;
  const actions = [undoing && button("Undo", undoLast, { class: "undo", "aria-keyshortcuts": "u" }), button("×", dismiss, { class: "quiet", "aria-label": "Dismiss" })];
  replace(box(), message, " ", actions);
  box().hidden = false;
}

export function dismiss() {
  undo = null;
  box().hidden = true;
}

/** Take back what was done last, if it can be. */
export async function undoLast() {
  const undoing = undo;
  if (!undoing) return;
  dismiss();
  try {
    toast(await undoing());
  } catch (problem) {
    toast(`Not undone: ${problem.message}`);
  }
}

/** Tell the views that something stored has changed. */
export function changed() {
  document.dispatchEvent(new CustomEvent("nur:changed"));
}
