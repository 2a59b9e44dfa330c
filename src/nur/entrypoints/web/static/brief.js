// The brief view: the quotes that an agent gets at the start of a session.

import * as api from "./api.js";
import { button, failure, h, line, placeholder, plain, replace } from "./dom.js";
import { go, opened } from "./router.js";
import { counted, dayDate } from "./text.js";
import { toast } from "./toast.js";

const TOKENS = [300, 800, 1500, 4000];

function lineRow({ quote, note_id, date }) {
  return h("li", { class: "row" }, h("a", { class: "row-name as-text", href: opened(note_id), "data-item": note_id, dir: "auto" }, plain(quote)), h("p", { class: "meta" }, h("time", { datetime: date }, dayDate(date))));
}

/** The brief's text as the agent reads it, with a copy button. */
function asText(brief) {
  const copy = async () => {
    await navigator.clipboard.writeText(brief.text);
    toast("Copied.");
  };
  return h("details", { class: "properties" }, h("summary", {}, "The text that the agent gets"), h("p", { class: "actions" }, button("Copy text", () => copy().catch((problem) => toast(problem.message)))), h("pre", { class: "brief-text", dir: "auto", tabindex: "0" }, brief.text));
}

function briefNodes(brief) {
  if (!brief.sections.length) return [placeholder("The brief is empty", "A brief consists of standing instructions, preferences, decisions, open tasks and recent changes. Store some memories, and they appear here.")];
  const left = brief.left_out ? ` · ${counted(brief.left_out, "quote")} did not fit` : "";
  const sections = brief.sections.map(({ title, lines }) => h("section", { class: "brief-section" }, h("h2", {}, line(title)), h("ol", { class: "rows", "aria-label": plain(title) }, lines.map(lineRow))));
  return [h("p", { class: "meta summary" }, `${counted(brief.tokens, "token")}${left}`), ...sections, asText(brief)];
}

function select(name, label, options, value) {
  return h("label", {}, label, h("select", { name }, options.map(([option, text]) => h("option", { value: option, selected: option === value }, text))));
}

/** The fields above the brief; the projects are filled in once they are loaded. */
function form(params) {
  const choices = (names) => [["", "any"], ...names.map((name) => [name, plain(name)])];
  const project = select("project", "Project", choices(params.project ? [params.project] : []), params.project ?? "");
  api.stats().then(({ projects }) => {
    const names = [...new Set([...Object.keys(projects), params.project ?? ""])].filter(Boolean).sort();
    replace(project.querySelector("select"), choices(names).map(([value, text]) => h("option", { value, selected: value === (params.project ?? "") }, text)));
  }, () => {});
  const about = h("label", {}, "About", h("input", { name: "about", type: "text", value: params.about ?? "", maxlength: 500, placeholder: "the task, if there is one", dir: "auto" }));
  const size = select("tokens", "Maximum tokens", [["", "default"], ...TOKENS.map((count) => [String(count), counted(count, "token")])], params.tokens ?? "");
  const apply = (event) => {
    event.preventDefault();
    go("brief", { ...Object.fromEntries(new FormData(element)), open: "", at: "" });
  };
  const element = h("form", { class: "filters brief-form", onchange: apply, onsubmit: apply }, project, about, size);
  return element;
}

/** The brief view. */
export function show(main, params, signal) {
  const box = h("div", {});
  let now = params;
  async function draw() {
    box.setAttribute("aria-busy", "true");
    try {
      const brief = await api.brief({ project: now.project, query: now.about, max_tokens: now.tokens }, signal);
      replace(box, briefNodes(brief));
    } catch (problem) {
      if (problem.name !== "AbortError") replace(box, failure(problem, draw));
    } finally {
      box.removeAttribute("aria-busy");
    }
  }
  const update = (next) => {
    now = next;
    return draw();
  };
  replace(main, h("h1", {}, "Brief"), h("p", { class: "muted summary" }, "What an assistant gets at the start of a session, before the first question. Documents are never part of its instructions."), form(params), box);
  draw();
  return { update, refresh: draw };
}
