// The page: fields to a request, the response to elements. Text is set as text, never as markup.

import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { checked, decode, encode, named, nameOf } from "./link.js";

const $ = (id) => document.getElementById(id);
const pause = 150; // milliseconds without a key before the engine is asked
const maxShown = 3000; // explained rules and parts of conditions, on the whole page

/** element makes an element with properties and children; strings become text. */
function element(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children.filter((c) => c !== null && c !== ""));
  return e;
}

const count = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

// The state of the fields.

// The fields of an event, each with the name of its value.
const fields = [...document.querySelectorAll("[data-value]")];

/** source returns how the event is described: issue, pull, comment or payload. */
const source = () => document.querySelector("[name=source]:checked").value;

function read() {
  const by = source();
  const values = by === "pull" ? { "issue.pull_request": true } : {};
  for (const field of fields) {
    const value = valueOf(field);
    if (!field.closest("[hidden]") && value !== "" && value.length !== 0) values[field.dataset.value] = value;
  }
  return {
    rules: $("rules").value,
    event: by === "payload" ? "" : $("event").value,
    payload: by === "payload" ? $("payload").value || " " : "",
    case: $("case").value,
    values,
  };
}

/** valueOf returns the value of a field with its type. */
function valueOf(field) {
  if ("list" in field.dataset) return field.value.split(field.dataset.list === "," ? "," : "\n").map((item) => item.trim()).filter(Boolean);
  const text = field.tagName === "TEXTAREA" || field.id === "title" ? field.value : field.value.trim();
  return "number" in field.dataset && /^[0-9]+$/.test(text) ? Number(text) : text;
}

const editor = new Editor($("rules"));

function write(state) {
  $("rules").value = state.rules;
  editor.problems([]);
  $("payload").value = state.payload.trim() === "" ? "" : state.payload;
  $("case").value = state.case;
  let by = "issue";
  if (state.payload !== "") by = "payload";
  else if (state.event.startsWith("issue_comment")) by = "comment";
  else if (state.event.startsWith("pull_request") || state.values["issue.pull_request"] === true) by = "pull";
  $("by-" + by).checked = true;
  for (const field of fields) {
    const value = state.values[field.dataset.value] ?? "";
    const text = Array.isArray(value) ? value.join(field.dataset.list === "," ? ", " : "\n") : String(value);
    if (field.tagName === "SELECT") choose(field, text);
    else field.value = text;
  }
  showSource();
  if ([...$("event").options].some((option) => option.value === state.event && !option.hidden)) $("event").value = state.event;
}

/** choose selects a value of a list; one that is not in it selects the first. */
function choose(list, value) {
  list.value = value;
  if (list.selectedIndex < 0) list.selectedIndex = 0;
}

/** showSource shows the fields for the chosen kind of event. */
function showSource() {
  const by = source();
  $("issue-form").hidden = by === "payload";
  $("payload-form").hidden = by !== "payload";
  $("actor-field").hidden = by === "payload";
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(by);
    if (part.tagName === "OPTION") part.disabled = part.hidden;
  }
  const events = $("event");
  if (events.selectedIndex < 0 || events.options[events.selectedIndex].disabled) {
    events.selectedIndex = [...events.options].findIndex((option) => !option.disabled);
  }
}

// The engine.

const engine = new Engine({
  answered(response, took) {
    show(response);
    // For the tests and the curious: the number of answers, the engine's time, the time since the start.
    document.documentElement.dataset.answered = String(Number(document.documentElement.dataset.answered || 0) + 1);
    document.documentElement.dataset.took = took.toFixed(1);
    document.documentElement.dataset.answeredAt = performance.now().toFixed(0);
  },
  ended(why) {
    summarize(why, true);
    for (const part of document.querySelectorAll("#results > section")) part.hidden = true;
  },
});

let timer = 0;
function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => engine.ask(read()), pause);
}

// The response.

function summarize(text, bad) {
  $("summary").textContent = text;
  $("summary").classList.toggle("bad", bad);
}

function show(r) {
  const mistakes = r.problems.problems.filter((p) => p.severity === "error").length;
  const warnings = r.problems.problems.length - mistakes;
  const parts = [];
  if (mistakes) parts.push(count(mistakes, "mistake") + " in the rules");
  if (warnings) parts.push(count(warnings, "warning"));
  if (r.explanation) {
    const fired = r.explanation.rules.filter((rule) => rule.outcome === "matched").length;
    parts.push(`${fired} of ${count(r.explanation.rules.length, "rule")} ${fired === 1 ? "fires" : "fire"}`);
  }
  if (r.report?.undecided?.length) parts.push(`${r.report.undecided.length} unknown`);
  if (r.report) parts.push(count(r.report.actions.length, "action"));
  if (r.tests?.tests.length) parts.push(r.tests.failed ? `${r.tests.failed} of ${count(r.tests.tests.length, "test")} failed` : `${count(r.tests.tests.length, "test")} passed`);
  if (r.error) parts.push(r.error);
  summarize(parts.join(" · ") || "No rules yet.", mistakes > 0 || r.error !== "" || (r.tests?.failed ?? 0) > 0 || r.report?.status === "failed");
  editor.problems(r.problems.problems);
  fill("mistakes", r.problems.problems.length > 0, () => [problemList(r.problems.problems)]);
  fill("plan", r.report !== null, () => plan(r.report));
  const budget = { left: maxShown };
  fill("why", (r.explanation?.rules.length ?? 0) > 0, () => why(r.explanation.rules, budget));
  fill("tests", (r.tests?.tests.length ?? 0) > 0, () => r.tests.tests.map((t) => test(t, budget)));
}

/** fill shows a part with its content, or hides it. */
function fill(id, wanted, content) {
  $(id + "-part").hidden = !wanted;
  $(id).replaceChildren(...(wanted ? content() : []));
}

function problemList(problems) {
  return element("ul", { className: "plain" }, ...problems.map((p) =>
    element("li", { className: "step" },
      p.line > 0 ? place(p.line, p.column) : null, " ",
      element("span", { className: p.severity === "error" ? "bad message" : "warn message" }, `${p.severity === "error" ? "mistake" : "warning"}: `),
      element("span", { className: "message" }, p.message))));
}

/** place is a button that goes to a place in the rules. */
function place(line, column) {
  const button = element("button", { type: "button", className: "place", title: "Go to this place in the rule file" },
    column > 0 ? `line ${line}, column ${column}` : `line ${line}`);
  button.addEventListener("click", () => jump(line, column));
  return button;
}

/** jump selects the character at a place; lines and columns, in characters, count from 1. */
function jump(line, column) {
  const field = $("rules");
  const lines = field.value.split("\n");
  const at = Math.min(line, lines.length) - 1;
  const before = lines.slice(0, at).reduce((sum, l) => sum + l.length + 1, 0);
  const characters = [...lines[at]];
  const start = before + characters.slice(0, Math.max(0, column - 1)).join("").length;
  field.focus();
  field.setSelectionRange(start, start + (characters[Math.max(0, column - 1)]?.length ?? 0));
  field.scrollTop = Math.max(0, (at - 3) * parseFloat(getComputedStyle(field).lineHeight));
}

const tones = { do: "good", suggest: "warn", skip: "warn", refuse: "bad" };

function plan(report) {
  const list = [element("p", { className: "step" },
    element("b", {}, report.decision.replaceAll("_", " ")), " ",
    element("span", { className: report.status === "failed" ? "bad message" : "message" }, report.reason || report.rationale))];
  for (const a of report.actions) {
    // Why an action is requested and how sure its source is are no parameters.
    const { type, rationale, confidence, suggest, ...parameters } = a.action;
    list.push(element("div", { className: "step action" },
      element("span", { className: `verdict ${tones[a.verdict] ?? ""}` }, a.verdict), " ",
      element("b", {}, a.type), " ",
      element("span", { className: "code" }, Object.entries(parameters).map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`).join("\n")),
      element("div", { className: "faint" }, [a.reason, a.verdict === "suggest" ? "would be proposed to a person" : "", a.confidence ? "confidence " + a.confidence : "", "by " + a.source].filter(Boolean).join("; ")),
      a.rationale ? element("div", { className: "faint" }, "why: " + a.rationale) : null));
  }
  for (const u of report.undecided ?? []) {
    list.push(element("div", { className: "step action" },
      element("span", { className: "verdict warn" }, "unknown"), " ",
      element("b", {}, u.id),
      element("div", { className: "faint" }, `${u.why}; to decide it, give ${u.missing.map(supply).join(", ")}`)));
  }
  if (report.actions.length === 0) list.push(element("p", { className: "faint" }, "No action."));
  for (const w of report.warnings) list.push(element("p", { className: "warn message" }, w));
  return list;
}

/** supply names the field of a missing value. */
function supply(name) {
  const field = fields.find((f) => f.dataset.value === name);
  const label = field && document.querySelector(`label[for="${field.id}"]`);
  return label && !field.closest("[data-for][hidden]") ? `“${label.textContent}”` : `${name} in “All other values”`;
}

const outcomes = { matched: "fires", event: "does not listen to this event", condition: "its condition is false", later: "its condition became true only after the event", stopped: "an earlier rule stopped", unknown: "unknown, so it does nothing", failed: "fails, so it does nothing", undecided: "unknown here" };

/** why explains as many rules and parts of them as the page's budget still has. */
function why(rules, budget) {
  const list = [];
  for (const rule of rules) {
    if (budget.left <= 0) break;
    budget.left--;
    const outcome = outcomes[rule.outcome];
    const fired = rule.outcome === "matched";
    const tone = rule.outcome === "undecided" ? "warn" : rule.error ? "bad" : "faint";
    list.push(element("details", { open: fired || rule.error !== "", className: "rule" },
      element("summary", {}, element("b", {}, rule.id), " ", element("span", { className: fired ? "good" : tone }, outcome)),
      rule.line > 0 ? place(rule.line, 0) : null,
      rule.error ? element("div", { className: `${tone} message` }, rule.error) : null,
      rule.why && budget.left > 0 ? element("ul", { className: "parts" }, part(rule.why, budget)) : null));
  }
  if (budget.left <= 0 && !budget.noted) {
    budget.noted = true;
    list.push(element("p", { className: "faint" }, `The first ${maxShown} rules and parts of conditions are shown.`));
  }
  return list;
}

function part(p, budget) {
  const missing = p.missing?.length > 0;
  const value = p.error ? `${missing ? "?" : "!"} ${p.error}` : p.value;
  const item = element("li", {},
    element("span", { className: `value ${p.idle ? "faint" : missing ? "warn" : p.error ? "bad" : p.value === "true" ? "good" : ""}` }, p.idle ? `(${value})` : value), " ",
    element("span", { className: "code" }, p.text));
  budget.left--;
  const parts = [];
  for (const sub of p.parts) {
    if (budget.left <= 0) break;
    parts.push(part(sub, budget));
  }
  if (parts.length) item.append(element("ul", {}, ...parts));
  return item;
}

function test(t, budget) {
  const lines = t.mismatches.map((m) => element("div", { className: "step" },
    m.line > 0 ? place(m.line, m.column) : null, " ",
    element("b", {}, m.key || "a condition fails"),
    element("div", { className: "code" }, `want ${m.want}\ngot  ${m.got}`)));
  for (const s of t.scans) {
    if (s.missed) lines.push(element("div", { className: "warn" }, `the scan "${s.query}" does not find the issue: ${s.missed}`));
    if (s.unevaluated.length) lines.push(element("div", { className: "faint" }, `the scan "${s.query}" is only partly evaluated; these terms count as met: ${s.unevaluated.join(", ")}`));
  }
  if (t.rules.length) lines.push(...why(t.rules, budget));
  return element("div", { className: "step test" },
    element("span", { className: `verdict ${t.passed ? "good" : "bad"}` }, t.passed ? "passed" : "failed"), " ",
    element("b", {}, t.name), " ", place(t.line, 0), ...lines);
}

// Examples and links.

let examples = [];

async function loadExamples() {
  const answer = await fetch("examples.json");
  if (!answer.ok) throw new Error(`load the examples: the server answered ${answer.status}`);
  examples = await answer.json();
  $("example").append(...examples.map((e, i) => element("option", { value: String(i) }, e.title)));
  $("example").append(element("option", { value: "", hidden: true }, "your own"));
}

async function fromLink() {
  const fragment = location.hash.slice(1);
  if (fragment === "") return false;
  try {
    const example = nameOf(fragment) === null ? -1 : examples.findIndex((e) => named(e.title) === fragment);
    if (nameOf(fragment) !== null && example < 0) throw new Error(`there is no example ${nameOf(fragment)}`);
    write(example < 0 ? await decode(fragment) : checked(examples[example]));
    $("example").value = example < 0 ? "" : String(example);
    $("link-note").textContent = "This is the state of the link.";
    return true;
  } catch (error) {
    $("link-note").textContent = `The link was not used: ${error.message}.`;
    return false;
  }
}

async function makeLink() {
  const example = examples[Number($("example").value)];
  const fragment = $("example").value !== "" && example ? named(example.title) : await encode(read());
  if (fragment === null) {
    $("link-note").textContent = "The text is too long for a link.";
    return;
  }
  history.replaceState(null, "", "#" + fragment);
  $("address").value = location.href;
  $("address").hidden = false;
  $("address").select();
  try {
    await navigator.clipboard.writeText(location.href);
    $("link-note").textContent = "The link is in the clipboard.";
  } catch {
    $("link-note").textContent = "Copy the link from the field.";
  }
}

function edited() {
  $("example").value = "";
  changed();
}

for (const field of document.querySelectorAll("main textarea, main input, main select")) field.addEventListener("input", edited);
for (const radio of document.querySelectorAll("[name=source]")) radio.addEventListener("change", showSource);
$("example").addEventListener("change", () => {
  write(checked(examples[Number($("example").value)]));
  changed();
});
$("link").addEventListener("click", makeLink);
window.addEventListener("hashchange", async () => {
  if (await fromLink()) changed();
});

try {
  await loadExamples();
} catch (error) {
  $("link-note").textContent = `${error.message}.`;
}
if (!(await fromLink()) && examples.length > 0 && $("rules").value === "") {
  write(checked(examples[0]));
  $("example").value = "0";
}
engine.ask(read());
