// The search view: results as you type.

import * as api from "./api.js";
import { announce, button, failure, h, placeholder, plain, replace } from "./dom.js";
import { filterBar, filtersOf } from "./filters.js";
import { facts, newerLink, noteRow, pagedList } from "./list.js";
import { firstVisit } from "./first.js";
import { opened } from "./router.js";
import { counted, marked, nameOf, percent } from "./text.js";
import { versus } from "./versus.js";
import { whyPanel } from "./why.js";

const TOP = 20;
const CONTEXT_CHARACTERS = 900; // of all passages with their context; more would only pad the best ones
const MIN_CHARACTERS = 40; // a further passage shorter than this is not marked
const BOUNDARY = /\n*\[CHUNK BOUNDARY\]\n*/;
const LESS_LIKELY = 0.4; // share of the first result's score below which results are marked as less likely
const OUTDATED = { decided: "Replaced: open the newer one", value: "An older value: open the newer one", update: "Changed since: open the newer one" };
const SHOWN_AROUND = 220; // characters of context before and after a passage

/** The best passage with its context, as nodes. */
function inContext(item) {
  const passage = item.snippet ?? "";
  const around = item.stitched?.text.split(BOUNDARY).find((part) => part.includes(passage));
  if (!around || around.length === passage.length) return [passage];
  const at = around.indexOf(passage);
  const from = Math.max(0, at - SHOWN_AROUND);
  const to = Math.min(around.length, at + passage.length + SHOWN_AROUND);
  const shown = around.slice(from, to);
  const nodes = marked(shown, [[at - from, at - from + passage.length]]);
  return [from > 0 && "… ", ...nodes, to < around.length && " …"];
}

/** Spans of an item's passages, without further passages that are too short to mark. */
function spansOf(item) {
  return item.passages.map((passage) => [passage.start_char, passage.end_char]).filter(([start, end], index) => !index || end - start >= MIN_CHARACTERS);
}

/** A link to the newer note of an outdated result; null for other results. */
function outdated(item, answer) {
  if (!item.newer) return null;
  const newer = answer.items.find((other) => other.note_id === item.newer.note_id);
  return newerLink(item.newer.note_id, OUTDATED[item.newer.rule] ?? OUTDATED.decided, newer ? spansOf(newer) : []);
}

/** Contradicting quotes, side by side. */
function disagreements(answer) {
  return answer.conflicts.map(([one, other]) => {
    const label = (quote, name) => h("a", { href: opened(quote.note_id, [[quote.start_char, quote.end_char]]) }, name);
    return h("section", { class: "notice", "aria-label": "These disagree" }, h("p", {}, h("strong", {}, "These disagree.")), versus([[label(one, "Open the one"), one.text], [label(other, "Open the other"), other.text]], { marks: false }));
  });
}

function hitRow(item, answer) {
  const spans = spansOf(item);
  const target = { href: opened(item.note_id, spans), "data-item": item.note_id, dir: "auto" };
  const passages = h("p", { class: "passage", dir: "auto" }, inContext(item));
  const head = item.title ? [h("a", { class: "row-name", ...target }, plain(item.title)), passages] : [h("a", { class: "row-name as-text", ...target }, passages)];
  const panel = h("div", { class: "why", hidden: true });
  const why = button("Why?", toggle, { class: "quiet", "aria-expanded": "false", "data-why": true, "aria-label": `Why this result: ${nameOf(item)}` });
  function toggle() {
    panel.hidden = !panel.hidden;
    why.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.children.length) whyPanel(panel, answer, item);
  }
  const same = item.duplicates.length ? h("span", {}, ` · includes ${counted(item.duplicates.length, "duplicate")}`) : null;
  return h("li", { class: "row hit" }, head, h("p", { class: "meta" }, facts(item), same, why), outdated(item, answer), panel);
}

/** The results in order, with a divider before those that are much weaker than the first. */
function hitRows(answer) {
  const weak = answer.items.findIndex((item) => item.score < answer.items[0].score * LESS_LIKELY);
  const rows = answer.items.map((item) => hitRow(item, answer));
  if (weak > 0) rows.splice(weak, 0, h("li", { class: "divider" }, "Less likely"));
  return rows;
}

function summary(answer) {
  const count = counted(answer.items.length, "result");
  const confidence = answer.confidence === null || !answer.items.length ? "" : ` · ${percent(answer.confidence)} confidence in the first one`;
  return `${count}${confidence}`;
}

function nothing(answer, params) {
  if (answer.reason === "nothing_stored") return placeholder("Nothing is stored here yet", "Add a note, or drop a file anywhere on this page.");
  return placeholder("Nothing found", answer.notice ?? "No stored note answers this. Other words, or fewer filters, may help.", h("p", {}, h("a", { href: `#/explain?id=${answer.search_id}` }, "See what was considered")), (params.kind || Object.keys(filtersOf(params).filters).length > 0) && h("p", {}, h("a", { href: `#/search?q=${encodeURIComponent(params.q)}` }, "Search without filters")));
}

function answerNodes(answer, params) {
  const warning = answer.degraded.length ? h("p", { class: "notice", role: "status" }, answer.notice ?? `Search is incomplete; not available: ${answer.degraded.join(", ")}.`) : null;
  if (!answer.items.length) return [warning, nothing(answer, params)];
  const weak = !warning && answer.notice ? h("p", { class: "notice" }, answer.notice) : null;
  const bottom = h("p", { class: "meta" }, h("a", { href: `#/explain?id=${answer.search_id}` }, "All candidates of this search"));
  return [warning, weak, h("p", { class: "meta summary" }, summary(answer)), ...disagreements(answer), h("ol", { class: "rows hits", "aria-label": "Results" }, hitRows(answer)), bottom];
}

async function recent(signal) {
  const { notes } = await api.stats(signal);
  const total = Object.values(notes).reduce((sum, count) => sum + count, 0);
  if (!total) return firstVisit();
  const load = async (cursor) => {
    const page = await api.listNotes({ limit: 30, cursor }, signal);
    return { rows: page.notes.map((note) => noteRow(note)), next: page.next_cursor };
  };
  return [h("p", { class: "meta summary" }, `${counted(total, "note")} stored. Newest first:`), pagedList({ load, label: "Newest notes", empty: () => placeholder("Nothing to show", "All stored notes have expired or are hidden.") })];
}

/** Replace the results; the focus stays on the same item. */
function redraw(results, nodes) {
  const item = results.contains(document.activeElement) && document.activeElement.dataset.item;
  replace(results, nodes);
  if (item) results.querySelector(`[data-item="${CSS.escape(item)}"]`)?.focus({ preventScroll: true });
}

/** The search view; `update` is called as the query is typed. */
export function show(main, params, signal) {
  const results = h("div", { id: "results" });
  const bar = h("div", {});
  replace(main, h("h1", { class: "hidden" }, "Search"), bar, results);
  let running = null;

  async function ask(now) {
    running?.abort();
    running = new AbortController();
    const stop = AbortSignal.any([signal, running.signal]);
    results.setAttribute("aria-busy", "true");
    try {
      if (!now.q?.trim()) {
        const newest = await recent(stop);
        if (stop.aborted) return;
        replace(results, newest);
        announce("");
      } else {
        const answer = await api.search({ query: now.q, top_k: TOP, payload: "l1", max_chars: CONTEXT_CHARACTERS, ...filtersOf(now) }, stop);
        redraw(results, answerNodes(answer, now));
        announce(answer.items.length ? counted(answer.items.length, "result") : "Nothing found");
      }
      results.removeAttribute("aria-busy");
    } catch (problem) {
      if (problem.name === "AbortError") return;
      results.removeAttribute("aria-busy");
      replace(results, failure(problem, () => ask(now)));
    }
  }

  let current = params;
  function update(now) {
    current = now;
    replace(bar, filterBar("search", now));
    return ask(now);
  }
  update(params);
  return { update, refresh: () => ask(current) };
}
