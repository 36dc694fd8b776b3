// The rule file's field: line numbers, colours for YAML, and marks at mistakes. They are painted behind
// the field, whose own text is transparent: so it stays a text field, for keyboards and screen readers.

/** mark makes a span with a class around a text, or returns the text alone. */
function mark(text, className) {
  if (!className) return text;
  const span = document.createElement("span");
  span.className = className;
  span.textContent = text;
  return span;
}

const token = /(#.*$)|("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|`[^`]*`?)|([A-Za-z_][\w./-]*)(?=\s*:(?:\s|$))|(\b(?:true|false|null|\d[\d.]*[a-z]?)\b)|([\w./-]+|.)/gy;
const kinds = ["comment", "text", "key", "constant"];

/** tokens splits a line into texts with their kinds. A comment follows a space, or begins the line. */
function* tokens(line) {
  token.lastIndex = 0;
  for (let match; token.lastIndex < line.length && (match = token.exec(line)); ) {
    const kind = kinds[match.slice(1, 5).findIndex((group) => group !== undefined)] ?? "";
    if (kind === "comment" && match.index > 0 && !/\s/.test(line[match.index - 1])) {
      yield { text: "#", kind: "" };
      token.lastIndex = match.index + 1;
    } else {
      yield { text: match[0], kind };
    }
  }
}

/** blocks returns for each line whether it belongs to a block of text, which begins after "key: |". */
function blocks(lines) {
  let within = -1; // the indent of the line before the block; -1: no block
  return lines.map((line) => {
    const indent = line.search(/\S/);
    if (within >= 0 && (indent < 0 || indent > within)) return true;
    const begins = /(?:^|[:-]\s+)[|>][-+\d]*\s*(?:#.*)?$/.test(line);
    within = begins ? indent : -1;
    return false;
  });
}

/** An Editor paints a text field. Only the lines that can be seen are painted, so that long files stay fast. */
export class Editor {
  #field;
  #numbers = document.createElement("pre");
  #paint = document.createElement("pre");
  #value = null; // the text that lines and texts are of
  #lines = [];
  #texts = [];
  #problems = new Map(); // by line, from 1

  constructor(field) {
    this.#field = field;
    const box = document.createElement("div");
    box.className = "editor";
    this.#numbers.className = "numbers";
    this.#paint.className = "paint";
    for (const layer of [this.#numbers, this.#paint]) layer.setAttribute("aria-hidden", "true");
    field.replaceWith(box);
    box.append(this.#numbers, this.#paint, field);
    for (const event of ["input", "scroll"]) field.addEventListener(event, () => this.paint());
    new ResizeObserver(() => this.paint()).observe(field);
  }

  /** problems marks mistakes and warnings: lines and columns, in characters, count from 1. */
  problems(list) {
    this.#problems = new Map();
    for (const p of list) {
      if (p.line > 0) this.#problems.set(p.line, [...(this.#problems.get(p.line) ?? []), p]);
    }
    this.#field.setAttribute("aria-invalid", String(list.some((p) => p.severity === "error")));
    this.paint();
  }

  paint() {
    const field = this.#field;
    if (field.value !== this.#value) {
      this.#value = field.value;
      this.#lines = field.value.split("\n");
      this.#texts = blocks(this.#lines);
    }
    const height = parseFloat(getComputedStyle(field).lineHeight);
    const first = Math.floor(field.scrollTop / height);
    const last = Math.min(this.#lines.length, first + Math.ceil(field.clientHeight / height) + 1);
    const numbers = [], painted = [];
    for (let n = first; n < last; n++) {
      const problems = this.#problems.get(n + 1) ?? [];
      numbers.push(mark(String(n + 1), worst(problems)), "\n");
      painted.push(...this.#line(n, problems), "\n");
    }
    this.#numbers.replaceChildren(...numbers);
    this.#paint.replaceChildren(...painted);
    const above = first * height - field.scrollTop;
    this.#numbers.style.transform = `translateY(${above}px)`;
    this.#paint.style.transform = `translate(${-field.scrollLeft}px, ${above}px)`;
  }

  /** #line returns the painted parts of a line. */
  #line(n, problems) {
    const line = this.#lines[n];
    const marks = problems.filter((p) => p.column > 0).map((p) => ({ ...range(line, p.column), className: p.severity === "error" ? "mistake" : "warning" }));
    const parts = [];
    let at = 0;
    for (const { text, kind } of this.#texts[n] ? [{ text: line, kind: "text" }] : tokens(line)) {
      const end = at + text.length;
      const cuts = [...new Set([at, end, ...marks.flatMap((m) => [m.start, m.end])])].filter((c) => c >= at && c <= end).sort((a, b) => a - b);
      for (let k = 1; k < cuts.length; k++) {
        const marked = marks.find((m) => m.start <= cuts[k - 1] && cuts[k] <= m.end);
        parts.push(mark(line.slice(cuts[k - 1], cuts[k]), [kind, marked?.className].filter(Boolean).join(" ")));
      }
      at = end;
    }
    const after = marks.find((m) => m.start >= line.length);
    if (after) parts.push(mark(" ", after.className));
    return parts;
  }
}

const worst = (problems) => (problems.length === 0 ? "" : problems.some((p) => p.severity === "error") ? "mistake" : "warning");

/** range returns the word at a column of a line, or the character, as indexes. */
function range(line, column) {
  const start = [...line].slice(0, column - 1).join("").length;
  const word = /^(?:[\p{L}\p{N}_.-]+|.)/u.exec(line.slice(start));
  return { start, end: start + (word?.[0].length ?? 1) };
}
