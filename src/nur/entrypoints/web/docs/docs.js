// The REST reference, rendered from the server's OpenAPI description. Every route can be tried here.

import { keepToken, token } from "./api.js";
import { announce, failure, h, replace } from "./dom.js";

const BODIES = ["application/json", "multipart/form-data", "application/x-ndjson"];
const pretty = (value) => JSON.stringify(value, null, 2);
let schemas = {};

/** A text as nodes, with its `code` parts as <code> elements. */
function words(text) {
  const parts = text.split(/`([^`]+)`/);
  return parts.map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

function paragraphs(text) {
  return h("div", { class: "prose" }, (text ?? "").split(/\n{2,}/).map((one) => h("p", {}, words(one))));
}

function resolved(schema) {
  return schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema;
}

const nameOf = (schema) => schema?.$ref?.split("/").at(-1);

/** A schema's type in a few words: `string or null`, `list of Kind`. */
function typeOf(schema = {}) {
  if (schema.$ref) {
    const named = resolved(schema);
    return named.enum ? named.enum.join(", ") : nameOf(schema);
  }
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.const !== undefined) return pretty(schema.const);
  if (schema.enum) return schema.enum.join(", ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.format) return schema.format;
  return schema.type ?? "anything";
}

/** A schema's limits and default, in a few words. */
function limitsOf(schema = {}) {
  const limited = schema.anyOf?.find((one) => one.type !== "null") ?? schema;
  const pairs = [["minLength", "at least {} characters"], ["maxLength", "at most {} characters"], ["minimum", "at least {}"], ["exclusiveMinimum", "more than {}"], ["maximum", "at most {}"], ["maxItems", "at most {} items"]];
  const limits = pairs.filter(([name]) => limited[name] !== undefined).map(([name, wording]) => wording.replace("{}", limited[name].toLocaleString("en")));
  const value = schema.default;
  if (value !== undefined && value !== null && value !== "") limits.push(`default ${pretty(value)}`);
  return limits.join(", ");
}

function table(head, rows) {
  const cells = (row, tag) => row.map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, cell));
  return h("div", { class: "table" }, h("table", {}, h("thead", {}, h("tr", {}, cells(head, "th"))), h("tbody", {}, rows.map((row) => h("tr", {}, cells(row, "td"))))));
}

function explained(schema, description) {
  const limits = limitsOf(schema);
  return [...words(description ?? schema?.description ?? ""), limits && h("span", { class: "muted" }, description || schema?.description ? `; ${limits}` : limits)];
}

/** A table of an object's fields, and of its nested objects. */
function fields(schema) {
  const found = resolved(schema) ?? {};
  const several = (found.anyOf ?? []).filter((one) => one.type !== "null");
  if (several.length) return h("div", {}, several.map((one) => details(nameOf(one) ?? typeOf(one), fields(one))));
  if (!found.properties) return found.items ? fields(found.items) : h("p", {}, h("code", {}, typeOf(schema)));
  const required = found.required ?? [];
  const rows = Object.entries(found.properties).map(([name, one]) => [[h("code", {}, name), required.includes(name) ? " *" : ""], typeOf(one), explained(one)]);
  const inner = new Set(JSON.stringify(found.properties).match(/#\/components\/schemas\/\w+/g) ?? []);
  const nested = [...inner].filter((ref) => resolved({ $ref: ref }).properties && resolved({ $ref: ref }) !== found);
  return h("div", {}, found.description && h("p", {}, words(found.description)), table(["Field", "Type", "Meaning"], rows), nested.map((ref) => details(ref.split("/").at(-1), fields({ $ref: ref }))));
}

function details(title, ...content) {
  const box = h("details", {}, h("summary", {}, title));
  const draw = () => box.open && box.children.length === 1 && box.append(...content.filter(Boolean).map((one) => (typeof one === "function" ? one() : one)));
  box.addEventListener("toggle", draw);
  return box;
}

function example(schema) {
  const found = resolved(schema);
  return found?.examples?.[0] ?? resolved(schema?.anyOf?.[0])?.examples?.[0];
}

function answer([status, response]) {
  const schema = Object.values(response.content ?? {})[0]?.schema;
  const shown = schema && example(schema);
  const title = `${status} ${response.description.replace("Successful Response", "OK")}`;
  return details(title, shown && h("pre", {}, pretty(shown)), () => (schema ? fields(schema) : h("p", {}, "No body.")));
}

function answers(operation) {
  const all = Object.entries(operation.responses);
  const good = all.filter(([status]) => status < "400");
  const bad = all.filter(([status]) => status >= "400");
  return [...good.map(answer), details("Errors", () => h("div", {}, bad.map(answer)))];
}

/** The address and headers of a call, from the form's fields. */
function called(path, values) {
  const query = new URLSearchParams();
  const headers = {};
  for (const { parameter, field } of values) {
    const value = field.value.trim();
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value && parameter.in === "query") value.split(",").forEach((one) => query.append(parameter.name, one.trim()));
    else if (value) headers[parameter.name] = value;
  }
  return { address: query.size ? `${path}?${query}` : path, headers };
}

async function send(method, { address, headers }, body, output) {
  const sent = { ...headers };
  if (token()) sent.Authorization = `Bearer ${token()}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  try {
    const response = await fetch(address, { method: method.toUpperCase(), headers: sent, body });
    const text = await response.text();
    const shown = (response.headers.get("content-type") ?? "").includes("json") && !text.includes("\n") && text ? pretty(JSON.parse(text)) : text;
    const tag = response.headers.get("etag");
    replace(output, h("p", {}, h("strong", {}, `${response.status}`), tag && ` ETag: ${tag}`, ` ${method.toUpperCase()} ${address}`), shown && h("pre", {}, shown));
    announce(`Answered with ${response.status}`);
  } catch {
    replace(output, h("p", { class: "failure", role: "alert" }, "Nur does not answer. Is the server still running?"));
  }
}

/** A form that calls the route. */
function trial(method, path, operation) {
  const values = (operation.parameters ?? []).map((parameter) => {
    const field = h("input", { placeholder: typeOf(parameter.schema), required: parameter.required, spellcheck: "false" });
    return { parameter, field };
  });
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  const body = schema && h("textarea", { rows: 8, spellcheck: "false", "aria-label": "Body as JSON" });
  if (body) body.value = pretty(example(schema) ?? {});
  const output = h("div", {});
  const run = (event) => {
    event.preventDefault();
    send(method, called(path, values), body?.value, output);
  };
  return h(
    "form",
    { class: "fields", onsubmit: run },
    h("div", { class: "field-grid" }, values.map(({ parameter, field }) => h("label", {}, parameter.name, field))),
    body,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Send")),
    output,
  );
}

function section(method, path, operation) {
  const parameters = (operation.parameters ?? []).map((one) => [[h("code", {}, one.name), one.required ? " *" : ""], [typeOf(one.schema), one.in === "query" ? "" : ` (${one.in})`], explained(one.schema, one.description)]);
  const bodies = BODIES.filter((type) => operation.requestBody?.content?.[type]?.schema);
  return h(
    "section",
    { class: "operation", id: operation.operationId },
    h("h3", {}, h("span", { class: "method" }, method.toUpperCase()), ` ${path}`),
    paragraphs(operation.description),
    parameters.length ? table(["Parameter", "Type", "Meaning"], parameters) : null,
    bodies.map((type) => details(`Body: ${type}`, () => fields(operation.requestBody.content[type].schema))),
    h("div", {}, answers(operation)),
    details("Try it", () => trial(method, path, operation)),
  );
}

function askForToken() {
  const form = document.getElementById("token-form");
  const field = document.getElementById("token");
  form.hidden = false;
  field.value = token() ?? "";
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("change", () => keepToken(field.value.trim(), false));
}

async function show() {
  const main = document.getElementById("main");
  try {
    const response = await fetch("/openapi.json");
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const description = await response.json();
    schemas = description.components.schemas;
    if (description.components.securitySchemes) askForToken();
    const operations = Object.entries(description.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })));
    const tags = Object.entries(Object.groupBy(operations, ({ operation }) => operation.tags[0]));
    replace(document.getElementById("contents"), tags.flatMap(([tag, found]) => [h("h2", {}, tag), found.map(({ method, path, operation }) => h("a", { href: `#${operation.operationId}` }, h("span", { class: "method" }, method.toUpperCase()), path))].flat()));
    replace(main, h("h1", {}, `${description.info.title} ${description.info.version}: REST`), paragraphs(description.info.description), h("p", {}, h("a", { href: "/openapi.json" }, "openapi.json")), tags.flatMap(([tag, found]) => found.map(({ method, path, operation }) => section(method, path, operation))));
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (problem) {
    replace(main, failure(problem, show));
  }
}

show();
