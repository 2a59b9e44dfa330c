// Small charts; their numbers are also shown as text.

import { h, svg } from "./dom.js";
import { number } from "./text.js";

/** A share from 0 to 1 as a labelled bar. */
export function meter(label, value) {
  const width = Math.max(0, Math.min(1, value)) * 100;
  const drawing = svg("svg", { class: "bar-chart", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "bar-back", width: 100, height: 6 }), svg("rect", { class: "bar-front", width, height: 6 }));
  return h("div", {}, h("dt", {}, label), h("dd", {}, drawing, h("span", { class: "figure" }, value.toFixed(2))));
}

/** Counts as bars, scaled to the largest; `stacked` puts long labels above their bars. */
export function bars(counts, { stacked = false } = {}) {
  const largest = Math.max(1, ...counts.map(([, count]) => count));
  return h(
    "dl",
    { class: stacked ? "meters stacked" : "meters" },
    counts.map(([label, count]) => {
      const drawing = svg("svg", { class: "bar-chart", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "bar-front", width: (count / largest) * 100, height: 6 }));
      return h("div", {}, h("dt", {}, label), h("dd", {}, drawing, h("span", { class: "figure" }, number(count))));
    }),
  );
}

/** Values over time as columns, the newest on the right; `most` is the number of columns that fit. */
export function columns(values, label, most) {
  const largest = Math.max(1, ...values);
  const first = most - values.length;
  const height = (value) => Math.max(0.5, (value / largest) * 30);
  const rects = values.map((value, index) => svg("rect", { class: "bar-front", x: (first + index) * 4, width: 3, y: 30 - height(value), height: height(value) }));
  return svg("svg", { class: "columns", viewBox: `0 0 ${most * 4} 30`, preserveAspectRatio: "none", role: "img", "aria-label": label }, rects);
}
