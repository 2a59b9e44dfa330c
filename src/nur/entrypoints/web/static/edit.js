// The form to edit a note's text and fields. Every change can be undone.

import * as api from "./api.js";
import { button, h, replace } from "./dom.js";
import { changed, toast } from "./toast.js";

const EDITABLE_TEXT = ["memory", "note", "event"];
const MEMORY_TYPES = ["fact", "preference", "project", "decision"];
const DOCUMENT_TYPES = ["doc", "email", "chat", "transcript", "note"];
const SENSITIVITIES = ["normal", "sensitive", "highly_sensitive"];

/** The editable fields of a note, as [name, label, element]. */
function fields(note) {
  const select = (options, value) => h("select", {}, options.map((option) => h("option", { value: option, selected: option === value }, option.replace("_", " "))));
  const text = (value, more = {}) => h("input", { type: "text", value: value ?? "", dir: "auto", maxlength: 200, ...more });
  const share = (value) => h("input", { type: "number", min: 0, max: 1, step: "any", value: value ?? "" });
  const type = { memory: () => select(MEMORY_TYPES, note.type), artifact: () => select(DOCUMENT_TYPES, note.type) }[note.kind] ?? (() => text(note.type));
  return [
    note.kind !== "memory" && ["title", "Title", text(note.title, { maxlength: 1000 })],
    note.kind !== "turn" && ["type", "Type", type()],
    ["confidence", "Confidence, 0 to 1", share(note.confidence)],
    ["importance", "Importance, 0 to 1", share(note.importance)],
    ["sensitivity", "Sensitivity", select(SENSITIVITIES, note.sensitivity)],
  ].filter(Boolean);
}

function valueOf(element) {
  if (element.value === "") return null;
  return element.type === "number" ? Number(element.value) : element.value;
}

/** The fields that differ from the loaded note. */
function differences(note, edited, text) {
  const changes = {};
  for (const [name, , element] of edited) if (valueOf(element) !== (note[name] ?? null)) changes[name] = valueOf(element);
  if (text && text.value !== note.text) changes.text = text.value;
  return changes;
}

async function save(note, changes) {
  const receipt = await api.editNote(note.note_id, changes, note.revision);
  const previous = Object.fromEntries(Object.keys(changes).map((name) => [name, note[name] ?? null]));
  changed();
  toast("Saved.", async () => {
    await api.editNote(note.note_id, previous, receipt.revision);
    changed();
    return "Undone.";
  });
}

/** A form for a note; calls `done` after saving, `cancel` to close it. */
export function editForm(note, { done, cancel }) {
  const text = EDITABLE_TEXT.includes(note.kind) ? h("textarea", { id: "edit-text", rows: 10, dir: "auto" }) : null;
  if (text) text.value = note.text;
  const edited = fields(note);
  const message = h("div", { role: "alert" });
  const form = h(
    "form",
    { class: "fields", onsubmit: submit, onkeydown: (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter" && form.requestSubmit() },
    text ? [h("label", { for: "edit-text" }, "Text"), text] : h("p", { class: "muted" }, "To change the text of a document or a turn, store it again."),
    h("div", { class: "field-grid" }, edited.map(([, label, element]) => h("label", {}, label, element))),
    message,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Save"), button("Cancel", cancel, { "data-cancel": true })),
  );
  async function submit(event) {
    event.preventDefault();
    const changes = differences(note, edited, text);
    if (!Object.keys(changes).length) return cancel();
    try {
      await save(note, changes);
      done();
    } catch (problem) {
      const stale = problem.status === 412;
      const help = stale ? "The note was changed elsewhere since you opened it. Copy your text, then reload the note." : problem.message;
      replace(message, h("p", { class: "failure" }, help), stale && button("Reload", done));
    }
  }
  setTimeout(() => (text ?? edited[0][2]).focus());
  return form;
}
