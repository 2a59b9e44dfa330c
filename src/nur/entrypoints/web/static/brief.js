// The brief: what an agent gets at the start of a session, made of quotes.

import * as api from "./api.js";
import { button, failure, h, line, placeholder, plain, replace } from "./dom.js";
import { go, opened } from "./router.js";
import { counted, dayDate } from "./text.js";
import { toast } from "./toast.js";

const TOKENS = [300, 800, 1500, 4000];

function lineRow({ quote, note_id, date }) {
  return h("li", { class: "row" }, h("a", { class: "row-name as-text", href: opened(note_id), "data-item": note_id, dir: "auto" }, plain(quote)), h("p", { class: "meta" }, h("time", { datetime: date }, dayDate(date))));
}

/** The text as the agent reads it, to be looked at and copied. */
function asText(brief) {
  const copy = async () => {
    await navigator.clipboard.writeText(brief.text);
    toast("Copied.");
  };
  return h("details", { class: "properties" }, h("summary", {}, "The text that the agent reads"), h("p", { class: "actions" }, button("Copy text", () => copy().catch((problem) => toast(problem.message)))), h("pre", { class: "brief-text", dir: "auto", tabindex: "0" }, brief.text));
}

function briefNodes(brief) {
  if (!brief.sections.length) return [placeholder("Nothing to tell yet", "A brief is made of standing instructions, preferences, decisions, open tasks and what changed lately. Store some memories, and they appear here.")];
  const left = brief.left_out ? ` · ${counted(brief.left_out, "quote")} did not fit` : "";
  const sections = brief.sections.map(({ title, lines }) => h("section", { class: "brief-section" }, h("h2", {}, line(title)), h("ol", { class: "rows", "aria-label": plain(title) }, lines.map(lineRow))));
  return [h("p", { class: "meta summary" }, `${counted(brief.tokens, "token")}${left}`), ...sections, asText(brief)];
}

function select(name, label, options, value) {
  return h("label", {}, label, h("select", { name }, options.map(([option, text]) => h("option", { value: option, selected: option === value }, text))));
}

/** The fields above the brief; the projects are filled in when they are known. */
function form(params) {
  const named = (names) => [["", "none in particular"], ...names.map((name) => [name, plain(name)])];
  const project = select("project", "Project", named(params.project ? [params.project] : []), params.project ?? "");
  api.stats().then(({ projects }) => {
    const names = [...new Set([...Object.keys(projects), params.project ?? ""])].filter(Boolean).sort();
    replace(project.querySelector("select"), named(names).map(([value, text]) => h("option", { value, selected: value === (params.project ?? "") }, text)));
  }, () => {});
  const about = h("label", {}, "About", h("input", { name: "about", type: "text", value: params.about ?? "", maxlength: 500, placeholder: "the task, if there is one", dir: "auto" }));
  const size = select("tokens", "Most tokens", [["", "as agents ask"], ...TOKENS.map((count) => [String(count), counted(count, "token")])], params.tokens ?? "");
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
  replace(main, h("h1", {}, "Brief"), h("p", { class: "muted summary" }, "What an assistant is told at the start of a session, before anybody asks. Documents never instruct it."), form(params), box);
  draw();
  return { update, refresh: draw };
}
