// The first visit: nothing is stored yet.

import { h } from "./dom.js";
import { quickNote } from "./add.js";
import { filesSection } from "./ingest.js";

/** What to do with an empty store. */
export function firstVisit() {
  return h(
    "section",
    { class: "first" },
    h("h2", {}, "Nothing is stored yet"),
    h("p", {}, "Nur keeps what you or your assistant should remember, and finds it again by meaning. Write something down:"),
    quickNote(),
    filesSection(),
    h("p", { class: "muted" }, "Or connect an assistant, which stores and finds by itself: ", h("code", {}, "nur connect claude-code"), "."),
  );
}
