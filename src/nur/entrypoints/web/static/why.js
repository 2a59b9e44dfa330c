// Why a result was returned: its scores as bars, and the server's explanation.

import * as api from "./api.js";
import { failure, h, replace } from "./dom.js";
import { meter } from "./charts.js";

const RANKERS = { lexical: "words", dense: "meaning" };

function rankText(ranks) {
  const parts = Object.entries(ranks).map(([ranker, rank]) => `rank ${rank} by ${RANKERS[ranker] ?? ranker}`);
  return parts.length ? `Found at ${parts.join(" and ")}.` : "";
}

/** Fill the panel under a result. */
export async function whyPanel(panel, answer, item) {
  replace(panel, h("p", { class: "muted" }, "Loading …"));
  try {
    const { note } = await api.explain(answer.search_id, item.note_id);
    const best = note.candidates[0] ?? {};
    const bars = [["Words", best.lexical], ["Meaning", best.cosine], ["Context", best.bonus], ["Reranker", best.rerank_score]];
    replace(
      panel,
      h("dl", { class: "meters" }, bars.filter(([, value]) => value !== undefined && value !== null && value !== 0).map(([label, value]) => meter(label, value))),
      h("p", {}, rankText(item.ranks)),
      h("p", { class: "muted" }, note.why),
    );
  } catch (problem) {
    replace(panel, failure(problem));
  }
}
