// Split a text into blocks to style: headings, code, tables, quotes. The characters are not changed.

import { h } from "./dom.js";
import { marked } from "./text.js";

const FENCE = /^\s{0,3}(```|~~~)/;
const HEADING = /^#{1,6}\s/;
const TABLE = /^\s*\|.*\|\s*$/;
const QUOTE = /^\s{0,3}>/;
const CODE_FILE = /\.(c|cc|cpp|css|csv|go|h|ini|java|js|json|jsx|kt|lua|php|pl|ps1|py|r|rb|rs|sh|sql|swift|toml|ts|tsx|xml|ya?ml|log)$/i;

/** Whether a note is code, by its file name. CSV is stored as sentences, so it is text. */
export function isCode(note) {
  return note.metadata?.format !== "csv" && CODE_FILE.test(note.metadata?.file ?? note.source?.id ?? "");
}

function styleOf(line, inFence) {
  if (inFence || TABLE.test(line)) return "code";
  if (HEADING.test(line)) return "heading";
  return QUOTE.test(line) ? "quote" : "plain";
}

/** Consecutive lines of one style as {start, end, style}, in UTF-16 positions; together they cover the text. */
export function blocksOf(text) {
  const blocks = [];
  let fence = null;
  let start = 0;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    const style = styleOf(line, fence !== null || mark !== null);
    if (mark && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    const last = blocks.at(-1);
    const joins = last?.style === style && style !== "heading";
    if (joins) last.end = start + line.length;
    else blocks.push({ start, end: start + line.length, style });
    start += line.length;
  }
  return blocks;
}

/** A text's blocks as nodes, with `spans` (UTF-16 positions) marked; `best` is a position in the best span. */
export function blockNodes(text, spans, best, code) {
  const blocks = code ? [{ start: 0, end: text.length, style: "code" }] : blocksOf(text);
  return blocks.map(({ start, end, style }) => {
    const inside = spans.filter(([from, to]) => to > start && from < end).map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start]);
    const nodes = marked(text.slice(start, end), inside, best - start);
    return h("div", { class: style, tabindex: style === "code" ? "0" : null }, nodes);
  });
}
