// Upload dropped or chosen files and folders, with progress. Uploads continue while other views are open.

import * as api from "./api.js";
import { announce, button, h, line, replace } from "./dom.js";
import { go, here, href } from "./router.js";
import { counted } from "./text.js";
import { changed, toast } from "./toast.js";

const CONCURRENCY = 2;
const MAX_BYTES = 60 * 1024 * 1024;
const MAX_SHOWN = 200;
const STATES = { waiting: "waiting", created: "stored", replaced: "updated", metadata_updated: "metadata updated", unchanged: "already stored", undone: "moved to the trash" };

/** Every file added since the page was opened: {file, name, state, share, message, id}. */
const queue = [];
let running = 0;
/** The parts of the page that show the queue: {element, draw}. */
let sections = [];
const drawn = (one) => sections.forEach((section) => section.draw(one));

/** The dropped files, and those in dropped folders, without hidden ones. */
async function filesIn(transfer) {
  const dropped = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  const open = async (entry, path) => {
    if (entry.name.startsWith(".")) return;
    const name = path + entry.name;
    if (entry.isFile) return void found.push({ file: await new Promise((done, fail) => entry.file(done, fail)), name });
    const reader = entry.createReader();
    for (;;) {
      const part = await new Promise((done, fail) => reader.readEntries(done, fail)); // returns a hundred at a time
      if (!part.length) return;
      for (const inner of part) await open(inner, `${name}/`);
    }
  };
  for (const one of dropped) {
    if (one instanceof File) found.push({ file: one, name: one.name });
    else await open(one, "");
  }
  return found;
}

async function send(one) {
  const form = new FormData();
  form.append("file", one.file, one.file.name);
  form.append("name", one.name);
  form.append("modified_at", new Date(one.file.lastModified).toISOString());
  try {
    const receipt = await api.upload(form, (share) => {
      one.share = share;
      one.state = share < 1 ? "sending" : "reading";
      drawn(one);
    });
    const made = receipt.artifacts.filter((artifact) => artifact.operation === "created").map((artifact) => artifact.note_id);
    Object.assign(one, { state: receipt.operation, documents: receipt.documents, id: receipt.artifacts[0]?.note_id, made, allMade: made.length === receipt.created });
  } catch (problem) {
    Object.assign(one, { state: "failed", message: problem.message });
  }
}

async function work() {
  while (running < CONCURRENCY) {
    const one = queue.find((other) => other.state === "waiting");
    if (!one) break;
    running += 1;
    one.state = "sending";
    drawn(one);
    send(one).then(() => {
      running -= 1;
      drawn(one);
      if (queue.some((other) => other.state === "waiting")) work();
      else if (!running) finished();
    });
  }
}

/** A function that deletes the documents of these files; null if a receipt does not list all of them. */
function undoOf(files) {
  const made = files.flatMap((one) => one.made ?? []);
  if (!made.length || files.some((one) => one.allMade === false)) return null;
  return async () => {
    for (const id of made) await api.deleteNote(id);
    for (const one of files) if (one.made?.length) Object.assign(one, { state: "undone", id: null });
    drawn();
    changed();
    return "Moved to the trash.";
  };
}

function finished() {
  const files = queue.filter((one) => !one.reported);
  for (const one of files) one.reported = true;
  const failed = files.filter((one) => one.state === "failed").length;
  const message = `${counted(files.length - failed, "file")} added${failed ? `, ${failed} failed` : ""}.`;
  toast(message, undoOf(files));
  announce(message);
  changed();
}

function enqueue(files) {
  for (const { file, name } of files) {
    const tooLarge = file.size > MAX_BYTES;
    queue.push({ file, name, share: 0, state: tooLarge ? "failed" : "waiting", message: tooLarge ? "larger than 60 MB" : null });
  }
  if (files.length && here().view !== "add") go("add");
  drawn();
  work();
}

function retry(one) {
  Object.assign(one, { state: "waiting", message: null, share: 0, reported: false });
  drawn(one);
  work();
}

function row(one) {
  const name = one.id ? h("a", { href: href("add", { open: one.id }), "data-item": one.id }, line(one.name)) : line(one.name);
  const busy = ["sending", "reading"].includes(one.state);
  const state = one.state === "failed" ? h("span", { class: "failure" }, one.message) : STATES[one.state] ?? (one.state === "reading" ? "reading …" : "");
  const more = one.documents > 1 ? ` · ${counted(one.documents, "document")}` : "";
  return h("li", { class: "file" }, h("span", { class: "file-name" }, name), busy && h("progress", { max: 1, value: one.state === "reading" ? null : one.share, "aria-label": `Sending ${one.name}` }), h("span", { class: "muted" }, state, more), one.state === "failed" && button("Try again", () => retry(one), { class: "quiet" }));
}

/** The part of the add view that accepts files and shows their progress. */
export function filesSection() {
  const picker = (label, more) => {
    const chosen = () => {
      enqueue([...input.files].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
      input.value = ""; // so that the same files can be chosen again
    };
    const input = h("input", { type: "file", multiple: true, class: "hidden", tabindex: "-1", "aria-hidden": "true", onchange: chosen, ...more });
    return [button(label, () => input.click()), input];
  };
  const progress = h("progress", { "aria-label": "All files", hidden: true });
  const summary = h("p", { class: "meta", role: "status" });
  const list = h("ol", { class: "files", "aria-label": "Files" });
  const rows = new Map();
  function draw(one) {
    if (one && rows.has(one)) {
      const fresh = row(one);
      rows.get(one).replaceWith(fresh);
      rows.set(one, fresh);
    } else {
      rows.clear();
      for (const other of queue.slice(-MAX_SHOWN)) rows.set(other, row(other));
      replace(list, [...rows.values()]);
    }
    const done = queue.filter((other) => !["waiting", "sending", "reading"].includes(other.state)).length;
    progress.hidden = !queue.length || done === queue.length;
    progress.max = Math.max(1, queue.length);
    progress.value = done;
    replace(summary, queue.length ? `${done} of ${counted(queue.length, "file")} done` : "");
  }
  draw();
  const element = h("section", { class: "drop-zone" }, h("h2", {}, "Files"), h("p", { class: "muted" }, "Drop files or folders anywhere on this page: text, Markdown, web pages, office documents, mail, tables, chat exports."), h("p", { class: "actions" }, picker("Choose files", {}), picker("Choose a folder", { webkitdirectory: true })), progress, summary, list);
  sections = [...sections.filter((section) => section.element.isConnected), { element, draw }];
  return element;
}

/** Accept files dropped anywhere on the page. */
export function listenForFiles() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (on) => document.body.classList.toggle("dropping", on);
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? over(false));
  document.addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(false);
    enqueue(await filesIn(event.dataTransfer));
  });
}
