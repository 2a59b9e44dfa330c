// A message about the last action, with an undo button. It stays until it is dismissed or replaced.

import { button, replace } from "./dom.js";

const box = () => document.getElementById("toast");
let undo = null;

/** Show what was done; `undoAction` reverts it. */
export function toast(message, undoAction = null) {
  undo = undoAction;
  const actions = [undoAction && button("Undo", undoLast, { class: "undo", "aria-keyshortcuts": "u" }), button("×", dismiss, { class: "quiet", "aria-label": "Dismiss" })];
  replace(box(), message, " ", actions);
  box().hidden = false;
}

export function dismiss() {
  undo = null;
  box().hidden = true;
}

/** Undo the last action, if possible. */
export async function undoLast() {
  const action = undo;
  if (!action) return;
  dismiss();
  try {
    toast(await action());
  } catch (problem) {
    toast(`Not undone: ${problem.message}`);
  }
}

/** Notify the views that a note has changed. */
export function changed() {
  document.dispatchEvent(new CustomEvent("nur:changed"));
}
