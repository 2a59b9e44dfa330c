// The review view: pairs of memories that may repeat or contradict each other, for a person to decide.

import * as api from "./api.js";
import { announce, button, h, line, placeholder, replace } from "./dom.js";
import { pagedList } from "./list.js";
import { href, opened } from "./router.js";
import { nameOf, when } from "./text.js";
import { changed, toast } from "./toast.js";
import { versus } from "./versus.js";

const PAGE = 20;
const RELATIONS = { other: "A newer value", conflict: "They contradict each other", same: "Nearly the same" };
const STATES = { confirmed: "Confirmed: the newer one is valid", rejected: "Rejected: both are valid" };
const DONE = { confirm: "Confirmed: the newer one is valid, the older one ranks below it.", reject: "Rejected: both are valid." };

let focusAt = null; // index of the row to focus when the list is redrawn

/** Decide about a pair, with an undo; the focus moves to the next pair. */
async function decide(review, decision) {
  const rows = [...document.querySelectorAll(".review")];
  focusAt = rows.findIndex((row) => row.dataset.review === review.review_id);
  try {
    await api.decide(review.review_id, decision);
  } catch (problem) {
    return toast(problem.message);
  }
  changed();
  if (decision === "undo") return toast("Undone. The pair is open again.");
  toast(DONE[decision], async () => {
    await api.decide(review.review_id, "undo");
    changed();
    return "Undone. The pair is open again.";
  });
}

function actions(review) {
  const name = nameOf(review.newer);
  const act = (label, decision, props) => button(label, () => decide(review, decision), { "aria-label": `${label}: ${name}`, [`data-${decision}`]: true, ...props });
  if (review.state !== "waiting") {
    return h("p", { class: "actions" }, h("span", { class: "muted" }, STATES[review.state], " · ", when(review.decided_at), " · ", line(review.decided_by)), act("Undo", "undo"));
  }
  return h("p", { class: "actions" }, act("Confirm", "confirm", { class: "primary", "aria-keyshortcuts": "c" }), act("Reject", "reject", { "aria-keyshortcuts": "x" }));
}

function reviewRow(review) {
  const label = (name, note, item) => [h("a", { href: opened(note.note_id), "data-item": item ? note.note_id : null }, name), h("span", {}, "said ", when(note.ts))];
  const sides = [[label("Older", review.older, false), review.older.text], [label("Newer", review.newer, true), review.newer.text]];
  return h("li", { class: "row review", "data-review": review.review_id }, h("h2", {}, RELATIONS[review.relation] ?? "Decided without a suggestion"), versus(sides), actions(review));
}

function reviewsList(state, signal) {
  const load = async (after) => {
    const page = await api.reviews({ state, limit: PAGE, after }, signal);
    return { rows: page.reviews.map(reviewRow), next: page.next_after };
  };
  const place = (list, rows) => {
    list.append(...rows);
    const items = list.querySelectorAll("[data-item]");
    if (focusAt !== null) items[Math.min(Math.max(focusAt, 0), items.length - 1)]?.focus();
    focusAt = null;
    announce(`${items.length} shown`);
  };
  const waiting = () => placeholder("Nothing to review", "When a new memory changes, contradicts or nearly repeats an older one, the pair appears here. You decide which one is valid; nothing is deleted.");
  const decided = () => placeholder("Nothing has been decided yet", "Pairs that you confirm or reject are listed here, and can be undone at any time.");
  return pagedList({ load, label: "Reviews", place, empty: state === "waiting" ? waiting : decided });
}

/** The review view. */
export function show(main, params, signal) {
  const state = params.state === "decided" ? "decided" : "waiting";
  const tab = (value, label) => h("a", { href: href("review", { state: value }), "aria-current": (params.state ?? "") === value ? "true" : null }, label);
  const list = h("div", {});
  const draw = () => replace(list, reviewsList(state, signal));
  replace(
    main,
    h("h1", {}, "Review"),
    h("nav", { class: "tabs", "aria-label": "State" }, tab("", "Waiting"), tab("decided", "Decided")),
    h("p", { class: "muted summary" }, "Confirm: the newer one is valid, and the older one ranks below it. Reject: both are valid. Both stay stored either way."),
    list,
  );
  draw();
  return { refresh: draw };
}
