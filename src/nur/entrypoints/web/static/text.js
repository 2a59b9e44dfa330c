// Format texts with marked passages, numbers and dates.

import { h } from "./dom.js";

export const KINDS = {
  memory: { one: "Memory", many: "Memories" },
  turn: { one: "Turn", many: "Conversations" },
  artifact: { one: "Document", many: "Documents" },
  note: { one: "Note", many: "Notes" },
  event: { one: "Event", many: "Events" },
};

/** Labels of the changes of a note. */
export const CHANGES = {
  created: "Created",
  replaced: "Replaced",
  edited: "Edited",
  deleted: "Deleted",
  restored: "Restored",
  purged: "Erased",
  superseded: "Superseded",
  reinstated: "Valid again",
};

/** Convert ascending code point offsets to positions in a JavaScript string, which counts UTF-16 units. */
export function positions(text, offsets) {
  const result = [];
  let points = 0;
  let units = 0;
  for (const offset of offsets) {
    while (points < offset && units < text.length) {
      units += text.codePointAt(units) > 0xffff ? 2 : 1;
      points += 1;
    }
    result.push(units);
  }
  return result;
}

/** The spans sorted, with overlapping ones merged. */
export function joined(spans) {
  const result = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

/** A text as nodes, with `spans` (UTF-16 positions) marked; the mark around position `best` has the class best. */
export function marked(text, spans, best = null) {
  const nodes = [];
  let from = 0;
  for (const [start, end] of joined(spans)) {
    if (start > from) nodes.push(text.slice(from, start));
    const isBest = best !== null && start <= best && best < end;
    nodes.push(h("mark", { class: isBest ? "best" : null }, text.slice(start, end)));
    from = end;
  }
  nodes.push(text.slice(from));
  return nodes;
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const NUMBER = new Intl.NumberFormat();

export const date = (moment) => DATE.format(new Date(moment));
export const dateTime = (moment) => DATE_TIME.format(new Date(moment));
export const day = (moment) => DAY.format(new Date(moment));
/** The local day of a moment, in the server's format: 2026-05-07. */
export const dayOf = (moment) => new Date(moment).toLocaleDateString("sv-SE");
const midnight = (isoDay) => new Date(`${isoDay}T00:00:00`);
export const dayName = (isoDay) => DAY.format(midnight(isoDay));
export const dayDate = (isoDay) => DATE.format(midnight(isoDay));
export const dayRange = (first, last) => DATE.formatRange(midnight(first), midnight(last));
export const number = (value) => NUMBER.format(value);
export const percent = (share) => `${Math.round(share * 100)} %`;

/** A date as a `<time>` element, with the exact time in its title. */
export function when(moment, shown = date) {
  return h("time", { datetime: moment, title: dateTime(moment) }, shown(moment));
}

/** The time of day as a `<time>` element, with the exact time in its title. */
export function time(moment) {
  return when(moment, (one) => TIME.format(new Date(one)));
}

/** "1 note", "2 notes". */
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** A name for a note: its title, else the first words of its text. */
export function nameOf(note) {
  const text = note.title || note.text || note.preview || note.snippet || note.note_id;
  const first = text.trim().split("\n", 1)[0];
  return first.length > 120 ? `${first.slice(0, 119)}…` : first;
}
