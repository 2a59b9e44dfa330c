// The list of changes, latest first: notes created, replaced, edited, deleted, restored and superseded.

import * as api from "./api.js";
import { h, line, placeholder, plain } from "./dom.js";
import { CHANGE_FIELDS, changeFilters } from "./filters.js";
import { byDay, pagedList } from "./list.js";
import { href, opened } from "./router.js";
import { CHANGES, KINDS, dayName, dayOf, nameOf, time } from "./text.js";
import { versus } from "./versus.js";

const PAGE = 100;
const CHARACTERS = 600; // of each text

/** The changed note's name, as a link if its text at that time is still kept; texts in the trash are not shown. */
function nameLink(change) {
  if (change.change === "purged") return h("p", { class: "muted" }, "Erased with its texts.");
  if (change.after === null) {
    const missing = change.change === "deleted" ? "Moved to the trash." : "Its text at that time is in the trash or no longer kept.";
    return h("p", { class: "muted", title: change.note_id }, change.title === null ? missing : line(change.title));
  }
  const name = nameOf({ ...change, text: change.after });
  return h("a", { class: change.title ? "row-name" : "row-name as-text", href: opened(change.note_id), "data-item": change.note_id, dir: "auto" }, plain(name));
}

/** Both texts of a replaced note, or a link: from a superseded note to its successor, from a deleted one to the trash. */
function more(change) {
  if (change.change === "replaced" && change.before !== null && change.after !== null) {
    return versus([["Before", change.before], ["After", change.after]]);
  }
  if (change.change === "superseded" && change.superseded_by) return h("p", { class: "newer" }, h("a", { href: opened(change.superseded_by) }, "Open what replaced it"));
  if (change.change === "deleted") return h("p", { class: "newer" }, h("a", { href: href("browse", { kind: "trash" }) }, "Look in the trash"));
  return null;
}

function changeRow(change) {
  const kind = change.kind && h("span", { class: `kind kind-${change.kind}` }, KINDS[change.kind].one);
  const parts = [h("span", { class: "change" }, CHANGES[change.change] ?? change.change), kind, time(change.at), h("span", {}, "by ", line(change.by))];
  return h(
    "li",
    { class: "row", "data-day": dayOf(change.at) },
    h("p", { class: "meta" }, parts.filter(Boolean).flatMap((part, index) => (index ? [h("span", { class: "dot", "aria-hidden": "true" }, "·"), part] : [part]))),
    nameLink(change),
    more(change),
  );
}

/** Whether a change matches the filters that the server does not support: it filters by time only. */
function isWanted(change, params) {
  const words = `${change.title ?? ""} ${change.before ?? ""} ${change.after ?? ""}`.toLowerCase();
  return (!params.change || change.change === params.change) && words.includes((params.containing ?? "").toLowerCase());
}

/** A list of changes. */
export function changesList(params, signal) {
  const load = async (cursor) => {
    const page = await api.changes({ ...changeFilters(params), order: "newest", limit: PAGE, max_chars: CHARACTERS, cursor }, signal);
    const rows = page.changes.filter((change) => isWanted(change, params)).map(changeRow);
    return { rows, next: page.has_more ? page.cursor : null };
  };
  const empty = () =>
    CHANGE_FIELDS.some((name) => params[name])
      ? placeholder("Nothing matches these filters", null, h("p", {}, h("a", { href: href("timeline", { kind: "changes" }) }, "Show every change")))
      : placeholder("No changes yet", "Notes that are stored, edited, deleted or replaced are listed here, with their texts before and after.");
  return pagedList({ load, label: "Changes", empty, place: byDay(dayName) });
}
