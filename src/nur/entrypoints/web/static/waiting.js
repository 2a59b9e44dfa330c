// The number of pairs to review, shown in the navigation.

import * as api from "./api.js";
import { h, replace } from "./dom.js";

const MAX_PAGE = 100; // the largest page that the server returns

/** Show the number of pairs to review in the navigation. */
export async function countWaiting(badge) {
  try {
    const { reviews, next_after: more } = await api.reviews({ state: "waiting", limit: MAX_PAGE });
    replace(badge, `${reviews.length}${more ? "+" : ""}`, h("span", { class: "hidden" }, " waiting"));
    badge.hidden = !reviews.length;
  } catch {
    badge.hidden = true; // the view itself shows the error
  }
}
