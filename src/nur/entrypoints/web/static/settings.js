// The settings view: the page's own settings, stored in this browser, and the server's, read-only.

import * as api from "./api.js";
import { button, failure, h, line, replace } from "./dom.js";
import { keysAreOff, setKeysOff, showKeys } from "./keys.js";

const THEMES = { "": "same as the system", light: "light", dark: "dark" };

function setTheme(theme) {
  if (theme) localStorage.setItem("nur.theme", theme);
  else localStorage.removeItem("nur.theme");
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function themeChoice() {
  const current = document.documentElement.dataset.theme ?? "";
  const options = Object.entries(THEMES).map(([value, label]) => h("label", { class: "check" }, h("input", { type: "radio", name: "theme", value, checked: value === current, onchange: () => setTheme(value) }), label));
  return h("fieldset", {}, h("legend", {}, "Theme"), options);
}

function keysChoice() {
  const box = h("input", { type: "checkbox", checked: !keysAreOff(), onchange: () => setKeysOff(!box.checked) });
  return h("fieldset", {}, h("legend", {}, "Keyboard"), h("label", { class: "check" }, box, "Use single-key shortcuts (such as / for search)"), h("p", { class: "actions" }, button("Show the shortcuts", showKeys)));
}

function lockChoice() {
  const lock = () => {
    api.forgetToken();
    location.reload();
  };
  return api.token() && h("fieldset", {}, h("legend", {}, "Token"), h("p", { class: "actions" }, button("Forget the token", lock)));
}

function settingRow({ name, value, is_set, meaning }) {
  const written = value === null || value === "" ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return h("tr", { class: is_set ? "is-set" : null }, h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, h("code", {}, line(written)), is_set && h("span", { class: "badge" }, "set")), h("td", { class: "muted" }, meaning));
}

async function serverSettings(box, signal) {
  try {
    const { settings } = await api.settings(signal);
    const heads = ["Setting", "Value", "Meaning"].map((name) => h("th", { scope: "col" }, name));
    replace(box, h("table", { class: "settings" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, settings.map(settingRow))));
  } catch (problem) {
    if (problem.name !== "AbortError") replace(box, failure(problem, () => serverSettings(box, signal)));
  }
}

/** The settings view. */
export function show(main, params, signal) {
  const box = h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Settings of the server" });
  const server = h("section", {}, h("h2", {}, "The server"), h("p", { class: "muted" }, "Set in the environment or in nur.toml, and read when the server starts."), box);
  replace(main, h("h1", {}, "Settings"), h("section", {}, h("h2", {}, "This page"), themeChoice(), keysChoice(), lockChoice()), server);
  serverSettings(box, signal);
}
