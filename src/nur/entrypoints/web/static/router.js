// Where the page is: `#/view?name=value`. `open` names the note beside the view, `at` its passages.

/** The view and its parameters in an address. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view. */
export function href(view, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** Where the page is now. */
export const here = () => parse(location.hash);

/** Go to a view; `replace` leaves no step behind in the history. */
export function go(view, params, { replace = false } = {}) {
  const target = href(view, params);
  if (target === location.hash) return;
  if (replace) {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = target;
  }
}

/** The address of the current view with a note open beside it. */
export function opened(id, spans = []) {
  const { view, params } = here();
  return href(view, { ...params, open: id, at: spans.map(([start, end]) => `${start}-${end}`).join(",") });
}

/** The address of the current view alone. */
export function closed() {
  const { view, params } = here();
  return href(view, { ...params, open: "", at: "" });
}

/** The spans that `at` names. */
export function spansOf(at = "") {
  return [...at.matchAll(/(\d+)-(\d+)/g)].map(([, start, end]) => [Number(start), Number(end)]);
}
