// Conversations, and the turns of one of them as they were said.

import * as api from "./api.js";
import { button, failure, h, line, placeholder, plain, replace } from "./dom.js";
import { pagedList } from "./list.js";
import { href, opened } from "./router.js";
import { counted, dateTime, when } from "./text.js";

function conversationRow(one) {
  const name = one.conversation_id;
  return h(
    "li",
    { class: "row" },
    h("a", { class: "row-name", href: href("browse", { kind: "turn", conversation: name }), "data-item": name, dir: "auto" }, plain(name)),
    h("p", { class: "row-text", dir: "auto" }, plain(one.preview)),
    h("p", { class: "meta" }, counted(one.turns, "turn"), h("span", { class: "dot", "aria-hidden": "true" }, "·"), when(one.last_at)),
  );
}

/** All conversations, the one with the latest turn first. */
export function conversationsList(signal) {
  const load = async (cursor) => {
    const page = await api.conversations({ limit: 50, cursor }, signal);
    return { rows: page.conversations.map(conversationRow), next: page.next_cursor };
  };
  return pagedList({ load, label: "Conversations", empty: () => placeholder("No conversations yet", "An assistant keeps them with history_append.") });
}

function turnRow(turn) {
  return h("li", { class: `turn turn-${turn.role}` }, h("p", { class: "meta" }, line(turn.role), h("a", { href: opened(turn.note_id), "data-item": turn.note_id }, dateTime(turn.occurred_at ?? turn.ingested_at))), h("div", { class: "turn-text", dir: "auto" }, turn.text));
}

/** One conversation, oldest turn first; earlier turns are a button away. */
export function conversation(id, signal) {
  const list = h("ol", { class: "turns", "aria-label": `Conversation ${id}` });
  const earlier = button("Show earlier turns", () => load(), { class: "more", hidden: true });
  const box = h("div", {}, h("p", {}, h("a", { href: href("browse", { kind: "turn" }) }, "All conversations")), h("h2", { dir: "auto" }, plain(id)), earlier, list);
  let cursor = null;
  async function load() {
    try {
      const page = await api.turns(id, { limit: 50, cursor }, signal);
      cursor = page.next_cursor;
      list.prepend(...page.turns.map(turnRow));
      if (!list.children.length) replace(box, placeholder("No such conversation", "It may have been deleted."));
      earlier.hidden = !cursor;
    } catch (problem) {
      if (problem.name !== "AbortError") box.append(failure(problem, (event) => event.target.closest(".failure").remove() ?? load()));
    }
  }
  load();
  return box;
}
