// The page's own settings, kept in this browser.

import { forgetToken, token } from "./api.js";
import { button, h, replace } from "./dom.js";
import { keysAreOff, setKeysOff, showKeys } from "./keys.js";

const THEMES = { "": "as the system has it", light: "light", dark: "dark" };

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
  return h("fieldset", {}, h("legend", {}, "Keyboard"), h("label", { class: "check" }, box, "Single keys do things (such as / for search)"), h("p", { class: "actions" }, button("Show the keys", showKeys)));
}

function lockChoice() {
  const lock = () => {
    forgetToken();
    location.reload();
  };
  return token() && h("fieldset", {}, h("legend", {}, "Token"), h("p", { class: "actions" }, button("Forget the token", lock)));
}

/** The settings view. */
export function show(main) {
  replace(main, h("h1", {}, "Settings"), h("section", {}, h("h2", {}, "This page"), themeChoice(), keysChoice(), lockChoice()));
}
