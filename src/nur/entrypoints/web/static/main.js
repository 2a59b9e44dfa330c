// Entry point: shows the view and the open note that the address names.

import { onLocked } from "./api.js";
import { placeholder, replace } from "./dom.js";
import { listenForFiles } from "./ingest.js";
import { listen } from "./keys.js";
import { askForToken } from "./login.js";
import { go, here } from "./router.js";
import { countWaiting } from "./waiting.js";

const TYPING_MILLISECONDS = 200;
const VIEWS = {
  search: () => import("./search.js"),
  browse: () => import("./browse.js"),
  timeline: () => import("./timeline.js"),
  review: () => import("./review.js"),
  brief: () => import("./brief.js"),
  add: () => import("./add.js"),
  health: () => import("./health.js"),
  settings: () => import("./settings.js"),
  explain: () => import("./explain.js"),
};
const TITLES = { search: "Search", browse: "Browse", timeline: "Timeline", review: "Review", brief: "Brief", add: "Add", health: "Health", settings: "Settings", explain: "Explain" };

const main = document.getElementById("main");
const detail = document.getElementById("detail");
const query = document.getElementById("query");
const waitingCount = document.getElementById("waiting");
const shown = { view: null, key: null, open: null, opener: null, controller: null, detailController: null, handle: null };

const keyOf = ({ open, at, ...params }) => JSON.stringify(params);

async function showView({ view, params }) {
  const key = keyOf(params);
  if (shown.view === view && shown.key === key) return;
  const same = shown.view === view;
  Object.assign(shown, { view, key });
  if (same && shown.handle?.update) return void shown.handle.update(params);
  shown.controller?.abort();
  shown.controller = new AbortController();
  shown.handle = null;
  document.title = `${TITLES[view] ?? "Not found"} · Nur`;
  for (const link of document.querySelectorAll(".views a")) link.toggleAttribute("aria-current", link.dataset.view === view);
  const load = VIEWS[view];
  countWaiting(waitingCount);
  if (!load) return void replace(main, placeholder("There is no such page", "Choose one above."));
  const { signal } = shown.controller;
  const module = await load();
  if (signal.aborted) return;
  shown.handle = module.show(main, params, signal) ?? null;
  scrollTo(0, 0);
}

async function showDetail({ params }) {
  const open = params.open ? `${params.open} ${params.at ?? ""}` : null;
  if (open === shown.open) return;
  const wasOpen = shown.open?.split(" ")[0];
  shown.open = open;
  shown.detailController?.abort();
  document.body.classList.toggle("with-detail", Boolean(open));
  detail.hidden = !open;
  if (!open) {
    replace(detail);
    const opener = shown.opener?.isConnected ? shown.opener : document.querySelector(`[data-item="${CSS.escape(wasOpen ?? "")}"]`);
    opener?.focus();
    return;
  }
  if (main.contains(document.activeElement)) shown.opener = document.activeElement;
  markCurrent(params.open);
  shown.detailController = new AbortController();
  const { showNote } = await import("./note.js");
  await showNote(detail, params.open, params.at, shown.detailController.signal);
  detail.focus({ preventScroll: true });
}

function markCurrent(id) {
  for (const item of document.querySelectorAll("[data-item]")) item.closest("li, tr")?.classList.toggle("current", item.dataset.item === id);
}

async function show() {
  const place = here();
  if (document.activeElement !== query) query.value = place.params.q ?? "";
  await showView(place);
  await showDetail(place);
}

let waiting = null;
function ask() {
  clearTimeout(waiting);
  const { view, params } = here();
  const kept = view === "search" ? params : {};
  go("search", { ...kept, q: query.value, open: "", at: "" }, { replace: view === "search" });
}

query.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(ask, TYPING_MILLISECONDS);
});
document.getElementById("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("nur:changed", () => {
  shown.handle?.refresh?.();
  countWaiting(waitingCount);
  const { params } = here();
  if (params.open && !detail.querySelector("form")) {
    shown.open = null;
    showDetail({ params });
  }
});
addEventListener("hashchange", show);
onLocked(askForToken);
listen();
listenForFiles();
show();
