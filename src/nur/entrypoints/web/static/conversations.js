// The list of conversations, and the turns of one conversation.

import * as api from "./api.js";
import { button, failure, h, line, placeholder, plain, replace } from "./dom.js";
import { confirmed } from "./dialog.js";
import { pagedList } from "./list.js";
import { go, href, opened } from "./router.js";
import { counted, dateTime, when } from "./text.js";
import { changed, toast } from "./toast.js";

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
  return pagedList({ load, label: "Conversations", empty: () => placeholder("No conversations yet", "An assistant stores them with history_append.") });
}

function turnRow(turn) {
  return h("li", { class: `turn turn-${turn.role}` }, h("p", { class: "meta" }, line(turn.role), h("a", { href: opened(turn.note_id), "data-item": turn.note_id }, dateTime(turn.occurred_at ?? turn.ingested_at))), h("div", { class: "turn-text", dir: "auto" }, turn.text));
}

/** The ids of all turns of a conversation. */
async function allTurns(id, signal) {
  const found = [];
  let cursor = null;
  do {
    const page = await api.turns(id, { limit: 200, cursor }, signal);
    found.push(...page.turns.map((turn) => turn.note_id));
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

/** Move a conversation to the trash, turn by turn, after asking for confirmation. */
async function moveToTrash(id, signal) {
  const turns = await allTurns(id, signal);
  if (!(await confirmed("Delete this conversation?", `${counted(turns.length, "turn")} will be in the trash for 30 days.`, "Delete"))) return;
  for (const turn of turns) await api.deleteNote(turn);
  go("browse", { kind: "turn" });
  changed();
  toast(`${counted(turns.length, "turn")} moved to the trash.`, async () => {
    for (const turn of turns) await api.restoreNote(turn);
    changed();
    return "Restored.";
  });
}

/** One conversation: its latest turns, oldest first, with a button that loads earlier ones. */
export function conversation(id, signal) {
  const list = h("ol", { class: "turns", "aria-label": `Conversation ${id}` });
  const earlier = button("Show earlier turns", () => load(), { class: "more", hidden: true });
  const remove = button("Delete conversation …", () => moveToTrash(id, signal).catch((problem) => toast(problem.message)), { class: "danger" });
  const head = h("div", { class: "split" }, h("h2", { dir: "auto" }, plain(id)), remove);
  const box = h("div", {}, h("p", {}, h("a", { href: href("browse", { kind: "turn" }) }, "All conversations")), head, earlier, list);
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
