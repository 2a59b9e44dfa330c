// Previous versions of a note; any of them can be restored.

import * as api from "./api.js";
import { button, failure, h, replace } from "./dom.js";
import { counted, dateTime } from "./text.js";
import { changed, toast } from "./toast.js";

function versionRow(note, version) {
  const text = h("div", { class: "text", dir: "auto", hidden: true });
  const show = button("Show", async () => {
    if (text.hidden) replace(text, (await api.version(note.note_id, version.version)).text);
    text.hidden = !text.hidden;
    show.textContent = text.hidden ? "Show" : "Hide";
  });
  const restore = button("Restore", async () => {
    try {
      const receipt = await api.restoreVersion(note.note_id, version.version, note.revision);
      changed();
      toast(`Version ${version.version} restored.`, async () => {
        await api.restoreVersion(note.note_id, note.version, receipt.revision);
        changed();
        return "Undone.";
      });
    } catch (problem) {
      toast(problem.message);
    }
  });
  const until = version.current ? "current" : `until ${dateTime(version.replaced_at)}`;
  return h("li", {}, h("p", { class: "actions" }, h("strong", {}, `Version ${version.version}`), h("span", { class: "muted" }, `${until} · ${counted(version.characters, "character")}`), !version.current && show, !version.current && restore), text);
}

/** A box with the versions of a note, loaded when it is opened. */
export function versionsBox(note) {
  if (note.version < 2) return null;
  const list = h("ol", { class: "versions" });
  const load = async () => {
    if (!box.open || list.children.length) return;
    try {
      const { versions } = await api.versions(note.note_id);
      replace(list, versions.map((version) => versionRow(note, version)));
    } catch (problem) {
      replace(list, h("li", {}, failure(problem)));
    }
  };
  const box = h("details", { class: "properties", ontoggle: load }, h("summary", {}, `Versions (${note.version})`), list);
  return box;
}
