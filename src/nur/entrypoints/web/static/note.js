// The open note: its text with marked passages, its properties, and its actions.

import * as api from "./api.js";
import { blockNodes, isCode } from "./blocks.js";
import { announce, button, failure, h, line, plain, replace, webLink } from "./dom.js";
import { editForm } from "./edit.js";
import { facts, newerLink } from "./list.js";
import { closed, href, opened, spansOf } from "./router.js";
import { counted, dateTime, joined, nameOf, percent, positions } from "./text.js";
import { changed, toast } from "./toast.js";
import { versionsBox } from "./versions.js";

const WINDOW = 20000; // characters of a long text that are loaded at a time

/** The text around the best passage (the first span), with buttons that load the text before and after it. */
async function textBox(note, spans, signal) {
  const best = spans[0]?.[0] ?? 0;
  const start = Math.max(0, best - WINDOW / 4);
  const part = await api.getText(note.note_id, start, start + WINDOW, signal);
  let { text, start_char: from, next_start: next } = part;
  const body = h("div", { class: "text", dir: "auto" });
  const box = h("div", {});
  const load = (begin, end, join) => async () => {
    const more = await api.getText(note.note_id, begin(), end(), signal);
    join(more);
    draw();
  };
  const earlier = button("Show earlier text", load(() => Math.max(0, from - WINDOW), () => from, (more) => {
    text = more.text + text;
    from = more.start_char;
  }), { class: "more" });
  const later = button("Show later text", load(() => next, () => next + WINDOW, (more) => {
    text += more.text;
    next = more.next_start;
  }), { class: "more" });
  function draw() {
    const inside = joined(spans).filter(([, end]) => end > from).map(([begin, end]) => [Math.max(0, begin - from), end - from]);
    const units = positions(text, inside.flat());
    const [at] = positions(text, [Math.max(0, best - from)]);
    const spansInText = inside.map((_, index) => [units[2 * index], units[2 * index + 1]]);
    replace(body, blockNodes(text, spansInText, at, isCode(note)));
    replace(box, from > 0 && earlier, body, next !== null && later);
  }
  draw();
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
    await navigator.clipboard.writeText((await api.getNote(note.note_id)).text);
    toast("Copied.");
  };
  return h("p", { class: "actions" }, button("Edit", attempt(edit), { "data-edit": true, "aria-keyshortcuts": "e" }), button("Delete", attempt(() => moveToTrash(note)), { "data-delete": true, "aria-keyshortcuts": "Delete" }), button("Copy text", attempt(copy)));
}

/** Scroll the pane to show a mark in its upper half, without scrolling the page. */
function scrollTo(pane, mark) {
  if (mark) pane.scrollTop += mark.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  else pane.scrollTop = 0;
}

/** Show a note in the pane. */
export async function showNote(pane, id, at, signal) {
  const close = h("a", { class: "close", href: closed(), "aria-label": "Close" }, "×");
  const again = () => showNote(pane, id, at, signal);
  const spans = spansOf(at);
  let note, text;
  try {
    note = await api.getNote(id, { text: false }, signal);
    text = await textBox(note, spans, signal);
  } catch (problem) {
    if (problem.name !== "AbortError") replace(pane, close, failure(problem, problem.status === 404 ? null : again));
    return;
  }
  const name = h("h2", { dir: "auto", class: note.title ? null : "hidden" }, plain(nameOf({ ...note, text: note.title ?? text.textContent })));
  const pending = note.index_state === "pending" && h("p", { class: "notice" }, "Not embedded yet: search finds it by words, and soon also by meaning.");
  const replaced = note.replaced_by && h("div", { class: "notice" }, "This note was replaced by a newer one.", newerLink(note.replaced_by, "Open the newer one"));
  const body = h("div", { class: "body" });
  const tools = h("div", {});
  const read = () => {
    replace(tools, toolbar(note, write));
    replace(body, replaced, pending, text, properties(note), versionsBox(note));
  };
  const write = async () => {
    const form = editForm(await api.getNote(id), { done: again, cancel: read });
    replace(tools);
    replace(body, form);
  };
  read();
  replace(pane, h("header", { class: "detail-head" }, close, h("p", { class: "meta" }, facts(note)), name, tools), body);
  scrollTo(pane, pane.querySelector("mark.best"));
  announce(`Opened: ${name.textContent}`);
}
