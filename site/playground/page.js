// The page: fields to a request, the response to elements. Text is set as text, never as markup.

import { Engine } from "./engine.js";
import { checked, decode, encode } from "./link.js";

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

function read() {
  const described = $("by-issue").checked;
  return {
    rules: $("rules").value,
    event: described ? $("event").value : "",
    payload: described ? "" : $("payload").value || " ",
    issue: described
      ? {
          title: $("title").value, body: $("body").value, author: $("author").value.trim(), association: $("association").value,
          labels: $("labels").value.split(",").map((label) => label.trim()).filter(Boolean),
        }
      : { title: "", body: "", author: "", association: "", labels: [] },
  };
}

function write(state) {
  const described = state.payload === "";
  $("rules").value = state.rules;
  $("payload").value = state.payload.trim() === "" ? "" : state.payload;
  $(described ? "by-issue" : "by-payload").checked = true;
  $("title").value = state.issue.title;
  $("body").value = state.issue.body;
  $("labels").value = state.issue.labels.join(", ");
  $("author").value = state.issue.author;
  choose($("association"), state.issue.association);
  choose($("event"), state.event);
  showSource();
}

/** choose selects a value of a list; one that is not in it selects the first. */
function choose(list, value) {
  list.value = value;
  if (list.selectedIndex < 0) list.selectedIndex = 0;
}

function showSource() {
  $("issue-form").hidden = !$("by-issue").checked;
  $("payload-form").hidden = $("by-issue").checked;
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
  if (r.report) parts.push(count(r.report.actions.length, "action"));
  if (r.tests?.tests.length) parts.push(r.tests.failed ? `${r.tests.failed} of ${count(r.tests.tests.length, "test")} failed` : `${count(r.tests.tests.length, "test")} passed`);
  if (r.error) parts.push(r.error);
  summarize(parts.join(" · ") || "No rules yet.", mistakes > 0 || r.error !== "" || (r.tests?.failed ?? 0) > 0 || r.report?.status === "failed");
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

const tones = { do: "good", skip: "warn", refuse: "bad" };

function plan(report) {
  const list = [element("p", { className: "step" },
    element("b", {}, report.decision.replaceAll("_", " ")), " ",
    element("span", { className: report.status === "failed" ? "bad message" : "message" }, report.reason || report.rationale))];
  for (const a of report.actions) {
    const { type, ...parameters } = a.action;
    list.push(element("div", { className: "step action" },
      element("span", { className: `verdict ${tones[a.verdict] ?? ""}` }, a.verdict), " ",
      element("b", {}, a.type), " ",
      element("span", { className: "code" }, Object.entries(parameters).map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`).join("\n")),
      element("div", { className: "faint" }, [a.reason, "by " + a.source].filter(Boolean).join("; "))));
  }
  if (report.actions.length === 0) list.push(element("p", { className: "faint" }, "No action."));
  for (const w of report.warnings) list.push(element("p", { className: "warn message" }, w));
  return list;
}

const outcomes = { matched: "fires", event: "does not listen to this event", condition: "its condition is false", later: "its condition became true only after the event", stopped: "an earlier rule stopped", unknown: "unknown, so it does nothing", failed: "fails, so it does nothing" };

/** why explains as many rules and parts of them as the page's budget still has. */
function why(rules, budget) {
  const list = [];
  for (const rule of rules) {
    if (budget.left <= 0) break;
    budget.left--;
    const outcome = outcomes[rule.outcome];
    const fired = rule.outcome === "matched";
    list.push(element("details", { open: fired || rule.error !== "", className: "rule" },
      element("summary", {}, element("b", {}, rule.id), " ", element("span", { className: fired ? "good" : rule.error ? "bad" : "faint" }, outcome)),
      rule.line > 0 ? place(rule.line, 0) : null,
      rule.error ? element("div", { className: "bad message" }, rule.error) : null,
      rule.why && budget.left > 0 ? element("ul", { className: "parts" }, part(rule.why, budget)) : null));
  }
  if (budget.left <= 0 && !budget.noted) {
    budget.noted = true;
    list.push(element("p", { className: "faint" }, `The first ${maxShown} rules and parts of conditions are shown.`));
  }
  return list;
}

function part(p, budget) {
  const value = p.error ? `! ${p.error}` : p.value;
  const item = element("li", {},
    element("span", { className: `value ${p.idle ? "faint" : p.error ? "bad" : p.value === "true" ? "good" : ""}` }, p.idle ? `(${value})` : value), " ",
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
    write(await decode(fragment));
    $("example").value = "";
    $("link-note").textContent = "This is the state of the link.";
    return true;
  } catch (error) {
    $("link-note").textContent = `The link was not used: ${error.message}.`;
    return false;
  }
}

async function makeLink() {
  const fragment = await encode(read());
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
