// One note beside the view: its text with the passages marked, what is known about it, and what can be done with it.

import * as api from "./api.js";
import { announce, button, failure, h, line, plain, replace, webLink } from "./dom.js";
import { editForm } from "./edit.js";
import { facts } from "./list.js";
import { closed, href, opened, spansOf } from "./router.js";
import { counted, dateTime, marked, nameOf, percent, positions } from "./text.js";
import { changed, toast } from "./toast.js";

const WINDOW = 20000; // characters of a long text that are shown at once

/** The text around the first passage, with buttons that show what is before and after it. */
function textNodes(note, spans) {
  const text = note.text ?? "";
  const ends = positions(text, spans.flat());
  const units = spans.map((_, index) => [ends[2 * index], ends[2 * index + 1]]);
  let from = Math.max(0, (units[0]?.[0] ?? 0) - WINDOW / 4);
  let to = Math.min(text.length, from + WINDOW);
  if (text.length <= WINDOW * 1.5) [from, to] = [0, text.length];
  const body = h("div", { class: "text", dir: "auto" });
  const box = h("div", {});
  const earlier = button("Show what is before", () => draw(Math.max(0, from - WINDOW), to), { class: "more" });
  const later = button("Show what follows", () => draw(from, Math.min(text.length, to + WINDOW)), { class: "more" });
  function draw(start, end) {
    [from, to] = [start, end];
    const inside = units.filter((span) => span[1] > from && span[0] < to).map(([a, b]) => [Math.max(a, from) - from, Math.min(b, to) - from]);
    replace(body, marked(text.slice(from, to), inside));
    replace(box, from > 0 && earlier, body, to < text.length && later);
  }
  draw(from, to);
  return box;
}

function properties(note) {
  const shown = [
    ["Id", h("code", {}, line(note.note_id))],
    ["Source", [note.source.system && line(note.source.system), note.source.id && [" ", line(note.source.id)]].flat()],
    ["Address", note.source.url && webLink(note.source.url)],
    ["Author", note.author && line(note.author)],
    ["With", note.participants.length && line(note.participants.join(", "))],
    ["Conversation", note.conversation_id && h("a", { href: href("browse", { kind: "turn", conversation: note.conversation_id, open: note.note_id }) }, line(note.conversation_id))],
    ["Key", note.key && line(note.key)],
    ["Project", note.project && line(note.project)],
    ["Agent", note.agent && line(note.agent)],
    ["Scope", note.scope && line(note.scope)],
    ["Confidence", note.confidence !== null && percent(note.confidence)],
    ["Importance", note.importance !== null && percent(note.importance)],
    ["Happened", note.occurred_at && dateTime(note.occurred_at)],
    ["Stored", dateTime(note.ingested_at)],
    ["Changed", note.updated_at !== note.ingested_at && dateTime(note.updated_at)],
    ["Expires", note.expires_at && dateTime(note.expires_at)],
    ["Sensitivity", note.sensitivity.replace("_", " ")],
    ["Kept", note.retention_policy.replace("_", " ")],
    ["Version", `${note.version}, ${counted(note.chunk_count, "chunk")}, ${counted(note.token_count, "token")}`],
    ["More", Object.keys(note.metadata).length > 0 && h("pre", { dir: "auto", tabindex: "0" }, JSON.stringify(note.metadata, null, 2))],
  ];
  const rows = shown.filter(([, value]) => value && value.length !== 0).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  return h("details", { class: "properties" }, h("summary", {}, "Properties"), h("dl", { class: "facts" }, rows));
}

async function moveToTrash(note) {
  await api.deleteNote(note.note_id, note.revision);
  location.hash = closed();
  changed();
  toast("Moved to the trash.", async () => {
    await api.restoreNote(note.note_id);
    changed();
    location.hash = opened(note.note_id);
    return "Restored.";
  });
}

function toolbar(note, edit) {
  const attempt = (action) => () => action().catch((problem) => toast(problem.message));
  const copy = async () => {
    await navigator.clipboard.writeText(note.text);
    toast("Copied.");
  };
  return h("p", { class: "actions" }, button("Edit", edit, { "data-edit": true, "aria-keyshortcuts": "e" }), button("Delete", attempt(() => moveToTrash(note)), { "data-delete": true, "aria-keyshortcuts": "Delete" }), button("Copy text", attempt(copy)));
}

/** Show a note in the pane. */
export async function showNote(pane, id, at, signal) {
  const close = h("a", { class: "close", href: closed(), "aria-label": "Close" }, "×");
  const again = () => showNote(pane, id, at, signal);
  let note;
  try {
    note = await api.getNote(id, {}, signal);
  } catch (problem) {
    if (problem.name !== "AbortError") replace(pane, close, failure(problem, problem.status === 404 ? null : again));
    return;
  }
  const spans = spansOf(at);
  const name = h("h2", { dir: "auto" }, plain(nameOf(note)));
  const pending = note.index_state === "pending" && h("p", { class: "notice" }, "Found by its words so far; it will be found by meaning once it is embedded.");
  const body = h("div", { class: "body" });
  const read = () => replace(body, toolbar(note, write), pending, textNodes(note, spans), properties(note));
  const write = () => replace(body, editForm(note, { done: again, cancel: read }));
  read();
  replace(pane, close, h("p", { class: "meta" }, facts(note)), name, body);
  pane.querySelector("mark")?.scrollIntoView({ block: "center" });
  announce(`Opened: ${nameOf(note)}`);
}
