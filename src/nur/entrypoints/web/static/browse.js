// The browse view: stored notes by kind, newest first, and the trash.

import * as api from "./api.js";
import { button, h, placeholder, replace } from "./dom.js";
import { conversation, conversationsList } from "./conversations.js";
import { confirmed } from "./dialog.js";
import { LIST_FIELDS, filterBar, hasFilters, listFilters } from "./filters.js";
import { noteRow, pagedList } from "./list.js";
import { href } from "./router.js";
import { KINDS, when } from "./text.js";
import { changed, toast } from "./toast.js";

const EMPTY = {
  "": "Nothing is stored yet.",
  memory: "No memories yet. An assistant stores them, or you do under Add.",
  artifact: "No documents yet. Drop files anywhere on this page.",
  note: "No notes yet. Write one under Add.",
  event: "No events yet. Programs send them to POST /v2/events.",
};

function trashRow(note) {
  const attempt = (action) => () => action().catch((problem) => toast(problem.message));
  const restore = attempt(async () => {
    await api.restoreNote(note.note_id);
    changed();
    toast("Restored.");
  });
  const purge = attempt(async () => {
    if (!(await confirmed("Erase this note for good?", "Its text and its previous versions are erased. This cannot be undone.", "Erase"))) return;
    await api.purgeNote(note.note_id);
    changed();
    toast("Erased.");
  });
  const row = noteRow(note);
  const name = row.querySelector("[data-item]");
  name.replaceWith(h("span", { class: "row-name", tabindex: "0", "data-item": note.note_id, dir: "auto" }, ...name.childNodes));
  row.append(h("p", { class: "actions" }, h("span", { class: "muted" }, "deleted ", when(note.deleted_at)), button("Restore", restore), button("Erase …", purge, { class: "danger" })));
  return row;
}

function trashList(signal) {
  const load = async (cursor) => {
    const page = await api.trash(cursor, signal);
    return { rows: page.notes.map(trashRow), next: page.next_cursor };
  };
  return pagedList({ load, label: "Trash", empty: () => placeholder("The trash is empty", "What you delete stays here for 30 days.") });
}

function notesList(params, signal) {
  const load = async (cursor) => {
    const page = await api.listNotes({ ...listFilters(params), limit: 50, cursor }, signal);
    return { rows: page.notes.map((note) => noteRow(note)), next: page.next_cursor };
  };
  const kind = params.kind ?? "";
  return pagedList({ load, label: kind ? KINDS[kind].many : "Everything stored", empty: () => (hasFilters(params) ? nothingMatches(params) : placeholder("Nothing here", EMPTY[kind])) });
}

function nothingMatches(params) {
  return placeholder("Nothing matches these filters", null, h("p", {}, h("a", { href: href("browse", { kind: params.kind }) }, "Show everything")));
}

function listOf(params, signal) {
  if (params.kind === "trash") return trashList(signal);
  if (params.kind !== "turn") return notesList(params, signal);
  return params.conversation ? conversation(params.conversation, signal) : conversationsList(signal);
}

/** The browse view. */
export function show(main, params, signal) {
  const list = h("div", {});
  const draw = () => replace(list, listOf(params, signal));
  const lists = params.kind !== "trash" && params.kind !== "turn";
  replace(main, h("h1", {}, "Browse"), filterBar("browse", params, { more: [["trash", "Trash"]], fields: lists ? LIST_FIELDS : [] }), list);
  draw();
  return { refresh: draw };
}
