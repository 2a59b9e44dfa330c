// Modal dialogs, with the browser's <dialog>: focus stays inside, and Esc closes them.

import { button, h } from "./dom.js";

/** Show a dialog until it is closed; resolves to the value it was closed with. */
export function dialog(title, content, { cancellable = true } = {}) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const element = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...content);
  document.body.append(element);
  return new Promise((resolve) => {
    element.addEventListener("cancel", (event) => cancellable || event.preventDefault());
    element.addEventListener("close", () => {
      element.remove();
      resolve(element.returnValue);
    });
    element.showModal();
  });
}

/** Ask for confirmation; resolves to whether the user agreed. */
export async function confirmed(title, text, action) {
  const close = (value) => (event) => event.target.closest("dialog").close(value);
  const buttons = h("p", { class: "actions" }, button("Cancel", close("")), button(action, close("yes"), { class: "danger" }));
  return (await dialog(title, [h("p", {}, text), buttons])) === "yes";
}
