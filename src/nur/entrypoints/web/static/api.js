// The REST client; the page has no other source of data.

const TOKEN = "nur.token";

/** An error response of the server; the message says what to do. */
export class Problem extends Error {
  constructor({ status = 0, code = "unreachable", title = "Something went wrong", detail }) {
    super(detail);
    Object.assign(this, { status, code, title });
  }
}

let askForToken = null;
let asking = null;

/** Set the function that asks the user for the token. It is called with whether the last token was refused. */
export function onLocked(ask) {
  askForToken = ask;
}

export function token() {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
}

/** Store the token until the tab is closed or, with `remember`, permanently. */
export function keepToken(value, remember) {
  forgetToken();
  (remember ? localStorage : sessionStorage).setItem(TOKEN, value);
}

export function forgetToken() {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
}

function address(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of [value].flat()) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  return query.size ? `${path}?${query}` : path;
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  const detail = body.detail ?? body.message ?? `The server answered ${response.status}.`;
  return new Problem({ status: response.status, code: body.code ?? "unknown", title: body.title, detail });
}

const unreachable = () => new Problem({ title: "Nur does not answer", detail: "Is the server still running? Start it with nur serve, then try again." });

/** Ask for the token, once for all waiting calls; `used` is the one that was refused. */
async function unlocked(used = token()) {
  if (used !== token()) return; // another call already got a new one
  asking ??= askForToken(used !== null).finally(() => (asking = null));
  await asking;
}

async function send(method, path, { params, body, headers = {}, signal } = {}) {
  const sent = { ...headers };
  const used = token();
  if (used) sent.Authorization = `Bearer ${used}`;
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) sent["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, params), { method, headers: sent, signal, body: isForm || body === undefined ? body : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (response.status === 401 && askForToken) {
    await unlocked(used);
    return send(method, path, { params, body, headers, signal });
  }
  return response;
}

/** Call the API; resolves to the parsed response, or null if it is empty. Rejects with a Problem. */
export async function call(method, path, options = {}) {
  const response = await send(method, path, options);
  if (!response.ok && !(options.accept ?? []).includes(response.status)) throw await problemOf(response);
  return response.status === 204 ? null : response.json();
}

/** Send a form and report its progress, from 0 to 1, which `fetch` cannot do. */
export async function upload(form, onProgress) {
  const answer = await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/v2/artifacts");
    if (token()) request.setRequestHeader("Authorization", `Bearer ${token()}`);
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded / Math.max(1, event.total)));
    request.addEventListener("load", () => resolve(new Response(request.responseText, { status: request.status })));
    request.addEventListener("error", () => reject(unreachable()));
    request.send(form);
  });
  if (answer.status === 401 && askForToken) {
    await unlocked();
    return upload(form, onProgress);
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer.json();
}

const noteAt = (id) => `/v2/notes/${encodeURIComponent(id)}`;
const matching = (revision) => (revision === undefined ? {} : { "If-Match": `"${revision}"` });

export const search = (body, signal) => call("POST", "/v2/searches", { body, signal });
export const explain = (searchId, note) => call("GET", `/v2/searches/${searchId}/explain`, { params: { note } });
export const listNotes = (params, signal) => call("GET", "/v2/notes", { params, signal });
export const getNote = (id, params, signal) => call("GET", noteAt(id), { params, signal });
export const getText = (id, start, end, signal) => call("GET", `${noteAt(id)}/text`, { params: { start, end }, signal });
export const versions = (id) => call("GET", `${noteAt(id)}/versions`);
export const version = (id, number) => call("GET", `${noteAt(id)}/versions/${number}`);
export const restoreVersion = (id, number, revision) => call("POST", `${noteAt(id)}/versions/${number}/restore`, { headers: matching(revision) });
export const conversations = (params, signal) => call("GET", "/v2/conversations", { params, signal });
export const turns = (id, params, signal) => call("GET", `/v2/conversations/${encodeURIComponent(id)}/turns`, { params, signal });
export const timeline = (params, signal) => call("GET", "/v2/timeline", { params, signal });
export const changes = (params, signal) => call("GET", "/v2/changes", { params, signal });
export const reviews = (params, signal) => call("GET", "/v2/reviews", { params, signal });
export const decide = (id, decision) => call("POST", `/v2/reviews/${encodeURIComponent(id)}`, { body: { decision } });
export const brief = (params, signal) => call("GET", "/v2/context", { params, signal });
export const settings = (signal) => call("GET", "/v2/admin/settings", { signal });
export const addNote = (body) => call("POST", "/v2/notes", { body });
export const addMemory = (body) => call("POST", "/v2/memories", { body });
export const editNote = (id, changes, revision) => call("PATCH", noteAt(id), { body: changes, headers: matching(revision) });
export const deleteNote = (id, revision) => call("DELETE", noteAt(id), { headers: matching(revision) });
export const restoreNote = (id) => call("POST", "/v2/admin/trash/restore", { body: { note_id: id } });
export const purgeNote = (id) => call("POST", "/v2/admin/trash/purge", { body: { note_id: id } });
export const trash = (cursor, signal) => call("GET", "/v2/admin/trash", { params: { limit: 50, cursor }, signal });
export const stats = (signal) => call("GET", "/v2/admin/stats", { signal });
export const health = (signal) => call("GET", "/health", { signal, accept: [503] });
export const outbox = (signal) => call("GET", "/v2/admin/outbox", { signal });
export const retryOutbox = () => call("POST", "/v2/admin/outbox/retry");
export const embedding = (signal) => call("GET", "/v2/admin/embedding", { signal });
export const rebuildState = (signal) => call("GET", "/v2/admin/index/rebuild", { signal });
export const rebuild = () => call("POST", "/v2/admin/index/rebuild", { body: {} });
