// The timeline view: what was said and happened, day by day, latest first; and the list of changes.

import * as api from "./api.js";
import { changesList } from "./changes.js";
import { h, placeholder, plain, replace } from "./dom.js";
import { CHANGE_FIELDS, TIMELINE_FIELDS, filterBar } from "./filters.js";
import { byDay, pagedList } from "./list.js";
import { href, opened } from "./router.js";
import { KINDS, dayName, dayOf, dayRange, time, when } from "./text.js";

const PAGE = 50;

/** An entry: the quote, the period it names if longer than a day, and when it was said. */
function entryRow(entry) {
  const [first, last] = [entry.first_day, entry.last_day];
  const kind = h("span", { class: `kind kind-${entry.kind}` }, KINDS[entry.kind].one);
  const period = first !== last && h("span", {}, dayRange(first, last));
  const said = dayOf(entry.ts) === first && first === last ? time(entry.ts) : h("span", {}, "said ", when(entry.ts));
  return h(
    "li",
    { class: "row", "data-day": first },
    h("a", { class: entry.title ? "row-name" : "row-name as-text", href: opened(entry.note_id), "data-item": entry.note_id, dir: "auto" }, plain(entry.title ?? entry.quote)),
    entry.title && h("p", { class: "row-text", dir: "auto" }, plain(entry.quote)),
    h("p", { class: "meta" }, [kind, period, said].filter(Boolean).flatMap((part, index) => (index ? [h("span", { class: "dot", "aria-hidden": "true" }, "·"), part] : [part]))),
  );
}

function entriesList(params, signal) {
  const load = async (cursor) => {
    const filters = { query: params.about, about: params.containing, when: params.when, project: params.project, kind: params.kind };
    const page = await api.timeline({ ...filters, limit: PAGE, cursor }, signal);
    return { rows: page.entries.reverse().map(entryRow), next: page.next_cursor };
  };
  const isFiltered = TIMELINE_FIELDS.some((name) => params[name]);
  const empty = () =>
    isFiltered
      ? placeholder("Nothing matches these filters", null, h("p", {}, h("a", { href: href("timeline", { kind: params.kind }) }, "Show everything")))
      : placeholder("Nothing here yet", "Stored notes appear under the day that they mention, or on which they were said.");
  return pagedList({ load, label: "Timeline", empty, place: byDay(dayName) });
}

/** The timeline view. */
export function show(main, params, signal) {
  const isChanges = params.kind === "changes";
  const list = h("div", { class: "timeline" });
  const draw = () => replace(list, isChanges ? changesList(params, signal) : entriesList(params, signal));
  const fields = isChanges ? CHANGE_FIELDS : TIMELINE_FIELDS;
  replace(main, h("h1", {}, "Timeline"), filterBar("timeline", params, { fields, more: [["changes", "Changes only"]] }), list);
  draw();
  return { refresh: draw };
}
