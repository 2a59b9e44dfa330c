// What a search is limited to; all of it is in the address.

import { button, h } from "./dom.js";
import { go, href } from "./router.js";
import { KINDS } from "./text.js";

const MODES = { "": "meaning and words", dense: "meaning alone", lexical: "words alone" };
const SENSITIVITIES = { "": "any", normal: "normal", sensitive: "sensitive", highly_sensitive: "highly sensitive" };
const NAMES = ["type", "source", "project", "from", "to", "confidence", "sensitivity", "mode"];

const dayStart = (date) => new Date(`${date}T00:00:00`).toISOString();
const dayEnd = (date) => new Date(`${date}T23:59:59.999`).toISOString();
const without = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** The parameters of the address as the API names them. */
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

/** Links that choose the kind of note. */
export function kindTabs(view, params, more = []) {
  const kinds = [["", "All"], ...Object.entries(KINDS).map(([kind, label]) => [kind, label.many]), ...more];
  const tabs = kinds.map(([kind, label]) => h("a", { href: href(view, { ...params, kind, conversation: "", open: "", at: "" }), "aria-current": (params.kind ?? "") === kind ? "true" : null }, label));
  return h("nav", { class: "tabs", "aria-label": "Kinds" }, tabs);
}

function choice(name, label, options, params) {
  const shown = Object.entries(options).map(([value, text]) => h("option", { value, selected: (params[name] ?? "") === value }, text));
  return h("label", {}, label, h("select", { name }, shown));
}

function field(name, label, type, params, more = {}) {
  return h("label", {}, label, h("input", { name, type, value: params[name] ?? "", dir: type === "text" ? "auto" : null, ...more }));
}

/** Kinds, and the rest of the filters behind a button. */
export function filterBar(view, params) {
  const active = NAMES.filter((name) => params[name]);
  const form = h(
    "form",
    { class: "filters", onchange: apply, onsubmit: (event) => event.preventDefault() },
    choice("mode", "Search by", MODES, params),
    field("type", "Type", "text", params, { placeholder: "fact, email, …" }),
    field("source", "Source", "text", params, { placeholder: "slack, gmail, …" }),
    field("project", "Project", "text", params),
    field("from", "From", "date", params),
    field("to", "To", "date", params),
    field("confidence", "Least confidence", "number", params, { min: 0, max: 1, step: 0.1 }),
    choice("sensitivity", "Sensitivity", SENSITIVITIES, params),
    active.length ? button("Clear filters", () => go(view, { q: params.q, kind: params.kind }), { class: "quiet" }) : null,
  );
  function apply() {
    filterBar.open = true;
    go(view, { ...params, ...Object.fromEntries(new FormData(form)), open: "", at: "" });
  }
  const label = active.length ? `Filters (${active.length})` : "Filters";
  const details = h("details", { class: "filter-box", open: filterBar.open || null, ontoggle: () => (filterBar.open = details.open) }, h("summary", {}, label), form);
  return h("div", { class: "bar" }, kindTabs(view, params), details);
}
