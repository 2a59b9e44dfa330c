// The page's address: `#/view?name=value`. `open` is the id of the open note, `at` its passages.

/** Parse an address into its view and parameters. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view. */
export function href(view, params = {}) {
  const nonEmpty = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(nonEmpty).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** The current view and parameters. */
export const here = () => parse(location.hash);

/** Go to a view; `replace` adds no entry to the history. */
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

/** The address of the current view with this note open. */
export function opened(id, spans = []) {
  const { view, params } = here();
  return href(view, { ...params, open: id, at: spans.map(([start, end]) => `${start}-${end}`).join(",") });
}

/** The address of the current view without an open note. */
export function closed() {
  const { view, params } = here();
  return href(view, { ...params, open: "", at: "" });
}

/** Parse the spans of `at`. */
export function spansOf(at = "") {
  return [...at.matchAll(/(\d+)-(\d+)/g)].map(([, start, end]) => [Number(start), Number(end)]);
}
