// What the page shows while nothing is stored.

import { h } from "./dom.js";
import { quickNote } from "./add.js";
import { filesSection } from "./ingest.js";

/** The first steps with an empty store. */
export function firstVisit() {
  return h(
    "section",
    { class: "first" },
    h("h2", {}, "Nothing is stored yet"),
    h("p", {}, "Nur stores what you or your assistant should remember, and finds it by meaning. Write something down:"),
    quickNote(),
    filesSection(),
    h("p", { class: "muted" }, "Or connect an assistant, which then stores and searches by itself: ", h("code", {}, "nur connect claude-code"), "."),
  );
}
