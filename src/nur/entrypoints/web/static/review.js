// Pairs of memories that may repeat or contradict each other: a person decides which holds.

import * as api from "./api.js";
import { announce, button, h, line, placeholder, replace } from "./dom.js";
import { pagedList } from "./list.js";
import { href, opened } from "./router.js";
import { nameOf, when } from "./text.js";
import { changed, toast } from "./toast.js";
import { versus } from "./versus.js";

const PAGE = 20;
const RELATIONS = { other: "A newer value", conflict: "They disagree", same: "Nearly the same" };
const STATES = { confirmed: "Confirmed: the newer one holds", rejected: "Rejected: both hold" };
const DONE = { confirm: "Confirmed: the newer one holds, the older one ranks behind it.", reject: "Rejected: both hold." };

let focusAt = null; // the place in the list that gets the focus when the list was drawn again

/** Decide about a pair, with a way back; the focus goes to the pair that takes its place. */
async function decide(review, decision) {
  const rows = [...document.querySelectorAll(".review")];
  focusAt = rows.findIndex((row) => row.dataset.review === review.review_id);
  try {
    await api.decide(review.review_id, decision);
  } catch (problem) {
    return toast(problem.message);
  }
  changed();
  if (decision === "undo") return toast("Undone. It waits again.");
  toast(DONE[decision], async () => {
    await api.decide(review.review_id, "undo");
    changed();
    return "Undone. It waits again.";
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
  const waiting = () => placeholder("Nothing waits for you", "When a memory is stored that says something else about the same thing as an older one, disagrees with it, or nearly repeats it, the pair appears here. You decide which one holds; nothing is deleted.");
  const decided = () => placeholder("Nothing was decided yet", "What you confirm or reject is listed here, and can be undone at any time.");
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
    h("p", { class: "muted summary" }, "Confirm: the newer one holds, and the older one ranks behind it. Reject: both hold. Both stay stored either way."),
    list,
  );
  draw();
  return { refresh: draw };
}
