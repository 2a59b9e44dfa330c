// The filters of searches and lists, which are kept in the page's address.

import * as api from "./api.js";
import { button, h, plain, replace } from "./dom.js";
import { go, href } from "./router.js";
import { CHANGES, KINDS } from "./text.js";

const MODES = { "": "meaning and words", dense: "meaning only", lexical: "words only" };
const SENSITIVITIES = { "": "any", normal: "normal", sensitive: "sensitive", highly_sensitive: "highly sensitive" };

/** Filter fields of each view. */
export const SEARCH_FIELDS = ["mode", "type", "source", "project", "from", "to", "confidence", "sensitivity"];
export const TIMELINE_FIELDS = ["about", "containing", "when", "project"];
export const CHANGE_FIELDS = ["containing", "change", "from", "to"];
export const LIST_FIELDS = ["containing", "type", "source", "project", "from", "to", "confidence"];

const dayStart = (date) => new Date(`${date}T00:00:00`).toISOString();
const dayEnd = (date) => new Date(`${date}T23:59:59.999`).toISOString();
const without = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** The address's parameters as fields of a search request. */
export function filtersOf(params) {
  const filters = without({
    type: params.type || undefined,
    source_system: params.source || undefined,
    sensitivity: params.sensitivity || undefined,
    min_confidence: params.confidence ? Number(params.confidence) : undefined,
    time_range_start: params.from ? dayStart(params.from) : undefined,
    time_range_end: params.to ? dayEnd(params.to) : undefined,
  });
  return without({ kinds: params.kind ? [params.kind] : undefined, project: params.project || undefined, mode: params.mode || undefined, filters });
}

/** The address's parameters as parameters of a list of notes. */
export function listFilters(params) {
  return {
    kind: params.kind,
    containing: params.containing,
    type: params.type,
    source_system: params.source,
    project: params.project,
    min_confidence: params.confidence,
    occurred_from: params.from && dayStart(params.from),
    occurred_to: params.to && dayEnd(params.to),
  };
}

/** The address's parameters as the time range of a list of changes. */
export function changeFilters(params) {
  return { since: params.from && dayStart(params.from), until: params.to && dayEnd(params.to) };
}

/** Whether a list has filters besides the kind. */
export const hasFilters = (params) => LIST_FIELDS.some((name) => params[name]);

function kindTabs(view, params, more) {
  const kinds = [["", "All"], ...Object.entries(KINDS).map(([kind, label]) => [kind, label.many]), ...more];
  const tabs = kinds.map(([kind, label]) => h("a", { href: href(view, { ...params, kind, conversation: "", open: "", at: "" }), "aria-current": (params.kind ?? "") === kind ? "true" : null }, label));
  const nav = h("nav", { class: "tabs", "aria-label": "Kinds" }, tabs);
  const current = tabs.find((tab) => tab.hasAttribute("aria-current"));
  setTimeout(() => (nav.scrollLeft = (current?.offsetLeft ?? 0) - nav.offsetLeft)); // show the current tab if the row is too narrow
  return nav;
}

function choice(name, label, options, params) {
  const shown = Object.entries(options).map(([value, text]) => h("option", { value, selected: (params[name] ?? "") === value }, text));
  return h("label", {}, label, h("select", { name }, shown));
}

function field(name, label, type, params, more = {}) {
  return h("label", {}, label, h("input", { name, type, value: params[name] ?? "", dir: type === "text" ? "auto" : null, ...more }));
}

const FIELDS = {
  containing: (params) => field("containing", "Containing", "text", params, { placeholder: "exact words" }),
  about: (params) => field("about", "About", "text", params, { placeholder: "by meaning", maxlength: 500 }),
  when: (params) => field("when", "When", "text", params, { placeholder: "last week, 2026-05, …", maxlength: 100 }),
  change: (params) => choice("change", "Change", { "": "any", ...CHANGES }, params),
  mode: (params) => choice("mode", "Search by", MODES, params),
  type: (params) => field("type", "Type", "text", params, { placeholder: "fact, email, …" }),
  source: (params) => field("source", "Source", "text", params, { placeholder: "slack, gmail, …" }),
  project: (params) => field("project", "Project", "text", params, { list: "projects" }),
  from: (params) => field("from", "From", "date", params),
  to: (params) => field("to", "To", "date", params),
  confidence: (params) => field("confidence", "Minimum confidence", "number", params, { min: 0, max: 1, step: 0.1 }),
  sensitivity: (params) => choice("sensitivity", "Sensitivity", SENSITIVITIES, params),
};

/** Project names, as suggestions for the project field. */
function projectNames() {
  const list = h("datalist", { id: "projects" });
  api.stats().then(({ projects }) => replace(list, Object.keys(projects).filter(Boolean).map((name) => h("option", { value: plain(name) }))), () => {});
  return list;
}

/** Tabs for the kinds, and a box that opens with the other filters. */
export function filterBar(view, params, { fields = SEARCH_FIELDS, more = [] } = {}) {
  const tabs = kindTabs(view, params, more);
  if (!fields.length) return h("div", { class: "bar" }, tabs);
  const active = fields.filter((name) => params[name]);
  const clear = button("Clear filters", () => go(view, { q: params.q, kind: params.kind }), { class: "quiet" });
  const form = h("form", { class: "filters", onchange: apply, onsubmit: submit }, fields.map((name) => FIELDS[name](params)), active.length > 0 && clear);
  function apply() {
    filterBar.open = true;
    filterBar.focus = document.activeElement?.name; // to keep the focus when the bar is redrawn
    go(view, { ...params, ...Object.fromEntries(new FormData(form)), open: "", at: "" });
  }
  function submit(event) {
    event.preventDefault();
    apply();
  }
  function toggle() {
    filterBar.open = details.open;
    if (details.open && !form.querySelector("datalist")) form.append(projectNames());
  }
  const label = active.length ? `Filters (${active.length})` : "Filters";
  const details = h("details", { class: "filter-box", open: filterBar.open ?? active.length > 0, ontoggle: toggle }, h("summary", {}, label), form);
  setTimeout(() => {
    form.elements[filterBar.focus]?.focus();
    filterBar.focus = undefined;
  });
  return h("div", { class: "bar" }, tabs, details);
}
