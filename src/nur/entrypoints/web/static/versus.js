// Two texts side by side, with their differences marked.

import { h } from "./dom.js";
import { marked } from "./text.js";

const WORDS = /\s+|[^\s]+/g;

/** Number of leading words that two lists share. */
function shared(one, other) {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count += 1;
  return count;
}

/** The span of each text between their common beginning and common end, in whole words. */
export function differing(one, other) {
  const [a, b] = [one, other].map((text) => text.match(WORDS) ?? []);
  const before = shared(a, b);
  const after = shared(a.slice(before).reverse(), b.slice(before).reverse());
  const length = (words) => words.join("").length;
  return [a, b].map((words) => [length(words.slice(0, before)), length(words.slice(0, words.length - after))]);
}

/** Two `[label, text]` pairs as quotes; a label is a string or nodes. Without `marks` nothing is marked. */
export function versus([[firstLabel, first], [secondLabel, second]], { marks = true } = {}) {
  const [inFirst, inSecond] = differing(first, second);
  const side = (label, text, [start, end]) => h("figure", {}, h("figcaption", { class: "meta" }, label), h("blockquote", { dir: "auto" }, marks && end > start ? marked(text, [[start, end]]) : text));
  return h("div", { class: "versus" }, side(firstLabel, first, inFirst), side(secondLabel, second, inSecond));
}
