// The explain view: every candidate of a search, with its outcome and scores.

import * as api from "./api.js";
import { bars } from "./charts.js";
import { failure, h, line, replace } from "./dom.js";
import { opened } from "./router.js";
import { counted } from "./text.js";

const OUTCOMES = { returned: "returned", below_floor: "too weak", collapsed: "duplicate of another", beyond_limit: "beyond the limit" };
const score = (value) => (value === undefined || value === null ? "" : value.toFixed(3));

function candidateRow(one) {
  const id = one.public_id ?? one.note_id;
  return h(
    "tr",
    {},
    h("td", {}, one.place ?? ""),
    h("td", {}, h("a", { href: opened(id), "data-item": id }, line(id))),
    h("td", {}, OUTCOMES[one.outcome] ?? one.outcome),
    [one.score, one.lexical, one.cosine].map((value) => h("td", { class: "figure" }, score(value))),
  );
}

function askAbout(id, signal) {
  const field = h("input", { type: "text", id: "asked", placeholder: "mem_…, art_…", maxlength: 400, required: true });
  const answer = h("p", { role: "status" });
  const ask = async (event) => {
    event.preventDefault();
    const explained = await api.explain(id, field.value.trim()).catch((problem) => ({ note: { why: problem.message } }));
    if (!signal.aborted) replace(answer, explained.note.why);
  };
  return h("form", { class: "fields", onsubmit: ask }, h("label", { for: "asked" }, "Why was a note not returned? Enter its id:"), h("p", { class: "actions" }, field, h("button", { type: "submit" }, "Ask")), answer);
}

/** The explain view. */
export async function show(main, params, signal) {
  replace(main, h("h1", {}, "What was considered"));
  try {
    const trace = await api.explain(params.id);
    if (signal.aborted) return;
    const heads = ["Rank", "Note", "Outcome", "Score", "Words", "Meaning"].map((name) => h("th", { scope: "col" }, name));
    main.append(
      h("p", { class: "passage" }, trace.query ? line(trace.query) : "The question was not recorded."),
      h("p", { class: "meta" }, counted(trace.candidates.length, "candidate")),
      h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Candidates" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, trace.candidates.map(candidateRow)))),
      askAbout(params.id, signal),
      h("section", {}, h("h2", {}, "Time, in milliseconds"), bars(Object.entries(trace.timings))),
    );
  } catch (problem) {
    main.append(failure(problem));
  }
}
