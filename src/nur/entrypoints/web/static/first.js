// The first visit: nothing is stored yet.

import { h } from "./dom.js";
import { quickNote } from "./add.js";

/** What to do with an empty store. */
export function firstVisit() {
  return h(
    "section",
    { class: "first" },
    h("h2", {}, "Nothing is stored yet"),
    h("p", {}, "Nur keeps what you or your assistant should remember, and finds it again by meaning. Write something down:"),
    quickNote(),
    h("p", { class: "muted" }, "Or drop files and folders anywhere on this page, or connect an assistant with ", h("code", {}, "nur connect"), "."),
  );
}
