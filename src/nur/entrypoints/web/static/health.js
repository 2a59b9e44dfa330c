// The health view: state of the store, the index and the embedding model.

import * as api from "./api.js";
import { bars, columns } from "./charts.js";
import { button, failure, h, line, replace } from "./dom.js";
import { KINDS, counted, number } from "./text.js";
import { toast } from "./toast.js";

const REFRESH_MILLISECONDS = 5000;
const HISTORY_LENGTH = 60;
const NAMES = { store: "Store", index: "Vector index", embedder: "Embedding model" };
const WORDS = { healthy: "works", degraded: "works in part", unhealthy: "does not work" };

function checkCard(name, check, history) {
  const more = [check.name, check.model, check.dimensions && counted(check.dimensions, "dimension")].filter(Boolean).join(", ");
  return h(
    "section",
    { class: `card status-${check.status}` },
    h("h2", {}, NAMES[name]),
    h("p", {}, h("span", { class: "status" }, WORDS[check.status]), more && [" · ", line(more)]),
    check.error && h("p", { class: "failure" }, line(check.error)),
    check.latency_ms !== undefined && h("p", { class: "muted" }, `answered in ${number(check.latency_ms)} ms`),
    columns(history, `${NAMES[name]}: milliseconds of the last ${counted(history.length, "check")}`, HISTORY_LENGTH),
  );
}

function stored(stats) {
  const counts = Object.entries(KINDS).map(([kind, label]) => [kind === "turn" ? "Turns" : label.many, stats.notes[kind] ?? 0]);
  return h("section", { class: "card" }, h("h2", {}, "Stored"), bars(counts));
}

function vectors(embedding) {
  const moving = embedding.state === "running" && h("p", { class: "notice" }, `Moving to ${embedding.to_version}: ${number(embedding.done)} of ${number(embedding.total)} chunks.`);
  return h("section", { class: "card" }, h("h2", {}, "Vectors"), moving, bars(Object.entries(embedding.held_versions), { stacked: true }));
}

function waiting(outbox, pending, attempt) {
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Waiting to be indexed"),
    h("p", {}, counted(outbox.pending, "note"), outbox.dead > 0 && `, ${number(outbox.dead)} failed`),
    outbox.last_error && h("p", { class: "failure" }, line(outbox.last_error)),
    columns(pending, `Notes that waited at the last ${counted(pending.length, "check")}`, HISTORY_LENGTH),
    outbox.dead > 0 && h("p", { class: "actions" }, button("Try again", attempt(api.retryOutbox, "Trying again."))),
  );
}

function rebuilding(state, attempt) {
  const running = state.state === "running";
  const progress = running && h("progress", { max: Math.max(1, state.chunks), value: state.rebuilt, "aria-label": "Rebuilding" });
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Rebuild"),
    h("p", { class: "muted" }, "Rebuilds the vector index from the stored vectors. Nothing is lost, and search keeps working."),
    progress,
    state.error && h("p", { class: "failure" }, line(state.error)),
    h("p", { class: "actions" }, button(running ? "Rebuilding …" : "Rebuild the index", attempt(api.rebuild, "Rebuilding."), { disabled: running })),
  );
}

/** The health view; it refreshes itself every few seconds. */
export function show(main, params, signal) {
  const cards = h("div", { class: "cards" });
  const history = { store: [], index: [], embedder: [], pending: [] };
  const attempt = (action, message) => async () => {
    await action().then(() => toast(message), (problem) => toast(problem.message));
    refresh();
  };
  const keep = (name, value) => {
    history[name] = [...history[name], value ?? 0].slice(-HISTORY_LENGTH);
  };
  async function refresh() {
    try {
      const [health, outbox, stats, embedding, rebuild] = await Promise.all([api.health(signal), api.outbox(signal), api.stats(signal), api.embedding(signal), api.rebuildState(signal)]);
      for (const name of Object.keys(NAMES)) keep(name, health.checks[name].latency_ms);
      keep("pending", outbox.pending);
      const checks = Object.keys(NAMES).map((name) => checkCard(name, health.checks[name], history[name]));
      replace(cards, checks, stored(stats), vectors(embedding), waiting(outbox, history.pending, attempt), rebuilding(rebuild, attempt));
    } catch (problem) {
      if (problem.name !== "AbortError") replace(cards, failure(problem, refresh));
    }
  }
  replace(main, h("h1", {}, "Health"), cards);
  refresh();
  const timer = setInterval(() => document.hidden || cards.contains(document.activeElement) || refresh(), REFRESH_MILLISECONDS);
  signal.addEventListener("abort", () => clearInterval(timer));
  return { refresh };
}
