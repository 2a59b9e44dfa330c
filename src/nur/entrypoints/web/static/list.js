// Lists of notes, loaded page by page.

import { button, failure, h, line, plain } from "./dom.js";
import { opened } from "./router.js";
import { KINDS, nameOf, when } from "./text.js";

const PREVIEW_CHARACTERS = 200; // length at which the server cuts previews

/** The preview; if it was cut, it ends with its last whole word. */
function shortened(preview) {
  return preview.length < PREVIEW_CHARACTERS ? preview : `${preview.replace(/\s+\S*$/, "")} …`;
}

/** A note in a list: its name, the beginning of its text, and its facts. */
export function noteRow(note, { shown = when } = {}) {
  const name = nameOf(note);
  const text = shortened(note.preview ?? note.text ?? "").trim();
  const more = text.startsWith(name.replace(/…$/, "")) ? text.slice(name.length).trim() : text;
  return h(
    "li",
    { class: "row" },
    h("a", { class: note.title ? "row-name" : "row-name as-text", href: opened(note.note_id), "data-item": note.note_id, dir: "auto" }, plain(name)),
    more && h("p", { class: "row-text", dir: "auto" }, plain(more)),
    h("p", { class: "meta" }, facts(note, shown)),
    newerLink(note.replaced_by),
  );
}

/** A link to the note that replaced this one; null if there is none. */
export function newerLink(id, label = "Replaced: open the newer one", spans = []) {
  return id ? h("p", { class: "newer" }, h("a", { href: opened(id, spans) }, label)) : null;
}

/** The facts under a note's name, separated by dots. */
export function facts(note, shown = when) {
  const kind = h("span", { class: `kind kind-${note.kind}` }, KINDS[note.kind].one);
  const parts = [kind, note.type && note.type !== note.kind && line(note.type), note.source?.system && line(note.source.system), note.project && line(note.project), note.role && line(note.role)];
  const moment = note.occurred_at ?? note.ts ?? note.ingested_at;
  return [...parts, moment && shown(moment)].filter(Boolean).flatMap((part, index) => (index ? [h("span", { class: "dot", "aria-hidden": "true" }, "·"), part] : [part]));
}

/** A function that adds rows with a `data-day` under the heading of their day, latest day first. */
export function byDay(nameOfDay) {
  return (list, rows) => {
    for (const row of rows) {
      const { day } = row.dataset;
      let before = list.lastElementChild;
      while (before && before.dataset.day < day) before = before.previousElementSibling;
      const heading = before?.dataset.day === day ? [] : [h("li", { class: "day", "data-day": day }, h("h2", {}, nameOfDay(day)))];
      if (before) before.after(...heading, row);
      else list.prepend(...heading, row);
    }
  };
}

/** A list that loads its next page when its end comes into view. `load(cursor)` resolves to {rows, next}; `place` adds rows. */
export function pagedList({ load, empty, label, place = (list, rows) => list.append(...rows) }) {
  const list = h("ol", { class: "rows", "aria-label": label });
  const more = button("Show more", () => next(), { class: "more", hidden: true });
  const element = h("div", {}, list, more);
  const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && next(), { rootMargin: "600px" });
  let cursor = null;
  let loading = false;

  async function next() {
    if (loading) return;
    loading = true;
    element.setAttribute("aria-busy", "true");
    try {
      const page = await load(cursor);
      cursor = page.next;
      place(list, page.rows);
      if (!list.children.length && !cursor) element.replaceChildren(empty());
      more.hidden = !cursor;
      observer.unobserve(more);
      if (cursor) observer.observe(more);
    } catch (problem) {
      if (problem.name !== "AbortError") element.append(failure(problem, (event) => event.target.closest(".failure").remove() ?? next()));
    } finally {
      loading = false;
      element.removeAttribute("aria-busy");
    }
  }
  next();
  return element;
}
