// The add view: write a note, or add files.

import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { filesSection } from "./ingest.js";
import { changed, toast } from "./toast.js";

const KINDS = { memory: "a memory: one fact, preference or decision", note: "a note: anything longer" };

/** A form that stores a memory or a note. */
export function quickNote() {
  const text = h("textarea", { id: "new-text", rows: 4, required: true, dir: "auto", placeholder: "Anna's train to Vienna leaves on Friday at 07:40." });
  const kind = h("select", { id: "new-kind" }, Object.entries(KINDS).map(([value, label]) => h("option", { value }, label)));
  const message = h("div", { role: "alert" });
  const form = h(
    "form",
    { class: "fields", onsubmit: store, onkeydown: (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter" && form.requestSubmit() },
    h("label", { for: "new-text" }, "Text"),
    text,
    h("label", { for: "new-kind" }, "Store as"),
    kind,
    message,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Store"), h("span", { class: "muted" }, "Ctrl + Enter stores")),
  );
  async function store(event) {
    event.preventDefault();
    if (!text.value.trim()) return;
    try {
      const stored = await (kind.value === "memory" ? api.addMemory({ text: text.value }) : api.addNote({ text: text.value }));
      const same = stored.operation === "unchanged";
      text.value = "";
      replace(message);
      changed();
      toast(same ? "This is already stored." : "Stored.", same ? null : () => moveToTrash(stored.note_id));
    } catch (problem) {
      replace(message, h("p", { class: "failure" }, problem.message));
    }
  }
  return form;
}

async function moveToTrash(id) {
  await api.deleteNote(id);
  changed();
  return "Moved to the trash.";
}

/** The add view. */
export function show(main) {
  replace(main, h("h1", {}, "Add"), h("section", {}, h("h2", {}, "Write"), quickNote()), filesSection());
  main.querySelector("textarea").focus();
}
