// Ask for the server's token.

import { keepToken } from "./api.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";

/** Ask for a token; `refused`: the last one was wrong. */
export async function askForToken(refused) {
  const field = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true, "aria-describedby": "token-help" });
  const remember = h("input", { type: "checkbox", id: "remember" });
  const form = h(
    "form",
    { class: "fields", onsubmit: submit },
    refused && h("p", { class: "failure", role: "alert" }, "This token is wrong."),
    h("label", { for: "token" }, "Token"),
    field,
    h("p", { id: "token-help", class: "muted" }, "The server's NUR_TOKEN. Whoever runs the server has it."),
    h("label", { class: "check" }, remember, " Remember it in this browser"),
    h("p", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Open")),
  );
  function submit(event) {
    event.preventDefault();
    if (!field.value.trim()) return;
    keepToken(field.value.trim(), remember.checked);
    form.closest("dialog").close();
  }
  await dialog("This store is locked", [form], { cancellable: false });
}
