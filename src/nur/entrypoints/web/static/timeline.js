// What was stored, day by day.

import * as api from "./api.js";
import { h, placeholder, replace } from "./dom.js";
import { LIST_FIELDS, filterBar, hasFilters, listFilters } from "./filters.js";
import { noteRow, pagedList } from "./list.js";
import { day } from "./text.js";

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const time = (moment) => h("time", { datetime: moment }, TIME.format(new Date(moment)));

/** The timeline view. */
export function show(main, params, signal) {
  const list = h("div", { class: "timeline" });
  function draw() {
    let last = null;
    const heading = (moment) => {
      if (day(moment) === last) return [];
      last = day(moment);
      return [h("li", { class: "day" }, h("h2", {}, last))];
    };
    const load = async (cursor) => {
      const page = await api.listNotes({ ...listFilters(params), limit: 50, cursor }, signal);
      const rows = page.notes.flatMap((note) => [...heading(note.ingested_at), noteRow({ ...note, occurred_at: note.ingested_at }, { shown: time })]);
      return { rows, next: page.next_cursor };
    };
    replace(list, pagedList({ load, label: "Timeline", empty: () => placeholder(hasFilters(params) ? "Nothing matches these filters" : "Nothing here", "What is stored appears under its day.") }));
  }
  replace(main, h("h1", {}, "Timeline"), filterBar("timeline", params, { fields: LIST_FIELDS }), list);
  draw();
  return { refresh: draw };
}
