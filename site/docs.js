// The search, buttons that copy blocks of code, and old links to the playground.

const $ = (id) => document.getElementById(`site.${id}`);
const root = new URL("../", import.meta.url);
const maxResults = 12;

// The playground was the first page of the site once, with its state behind the #.
if (location.pathname.replace(/index\.html$/, "") === root.pathname && /^#[\w-]{60,}$/.test(location.hash) && !document.getElementById(location.hash.slice(1))) {
  location.replace(new URL("playground/" + location.hash, root));
}

let loading; // of the index
/** load returns the sections of all pages and their index. It is called when the search is used first. */
function load() {
  loading ??= fetch(new URL("assets/search.json", root)).then(async (answer) => {
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const sections = await answer.json();
    lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
    const index = lunr(function () {
      this.ref("n");
      this.field("title", { boost: 6 });
      this.field("heading", { boost: 8 });
      this.field("text");
      sections.forEach(({ title, heading, text, to }, n) => {
        // Users look for a recipe first, and rarely for measurements, changes or the code.
        const boost = /^docs\/recipes\/(?!index)/.test(to) ? 3 : /^(docs\/(proof\/|benchmarks)|CHANGELOG|CONTRIBUTING)/.test(to) ? 0.4 : 1;
        this.add({ n, title, heading, text }, { boost });
      });
    });
    return { sections, index };
  }).catch((err) => {
    loading = undefined; // the next word tries again
    throw err;
  });
  return loading;
}

/** words returns the stems of a query, as the index has them. */
function words(query) {
  const pipeline = new lunr.Pipeline();
  pipeline.add(lunr.stopWordFilter, lunr.stemmer);
  return pipeline.run(lunr.tokenizer(query)).map(String);
}

/** find returns the sections with all words of a query, or else those with some of them, the best first. */
function find({ sections, index }, query) {
  const stems = words(query);
  if (stems.length === 0) return [];
  const search = (presence) => index.query((q) => {
    for (const stem of stems) {
      q.term(stem, { presence, wildcard: lunr.Query.wildcard.TRAILING });
      q.term(stem, { boost: 10 });
    }
  });
  let hits = search(lunr.Query.presence.REQUIRED);
  if (hits.length === 0) hits = search(lunr.Query.presence.OPTIONAL);
  return hits.map((hit) => sections[Number(hit.ref)]);
}

/** excerpt returns the text around the word of a query that is first found last: it is the rarest. */
function excerpt(text, query) {
  const lower = text.toLowerCase();
  const places = words(query).map((w) => lower.indexOf(w)).filter((at) => at >= 0);
  const from = places.length > 0 ? Math.max(0, Math.max(...places) - 40) : 0;
  return (from > 0 ? "…" : "") + text.slice(from, from + 140) + (from + 140 < text.length ? "…" : "");
}

function element(name, ...children) {
  const e = document.createElement(name);
  e.append(...children);
  return e;
}

function show(message, hits, query) {
  $("found").textContent = message;
  $("results").replaceChildren(...hits.slice(0, maxResults).map((s) => {
    const a = element("a", element("b", s.heading));
    if (s.heading !== s.title) a.append(" ", element("i", s.title));
    a.append(element("span", excerpt(s.text, query)));
    a.href = new URL(s.to, root);
    return element("li", a);
  }));
  $("panel").dataset.query = query;
  $("panel").hidden = false;
}

async function search() {
  const query = $("query").value.trim();
  if (query === "") {
    $("panel").hidden = true;
    return;
  }
  try {
    const loaded = await load();
    if ($("query").value.trim() !== query) return; // a newer one is shown
    const hits = find(loaded, query);
    const count = hits.length > maxResults ? `The best ${maxResults} of ${hits.length} results` : `${hits.length} result${hits.length === 1 ? "" : "s"}`;
    show(hits.length > 0 ? count : "Nothing found. Try other words.", hits, query);
  } catch (err) {
    show(`The search is not available: ${err.message}. Load the page again.`, [], query);
  }
}

const links = () => [...$("results").querySelectorAll("a")];

/** move moves the focus among the field and the results. */
function move(by) {
  const stops = [$("query"), ...links()];
  stops[Math.min(Math.max(stops.indexOf(document.activeElement) + by, 0), stops.length - 1)].focus();
}

$("query").addEventListener("focus", () => load().catch(() => {}));
$("query").addEventListener("input", search);
$("search").addEventListener("keydown", async (e) => {
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    e.preventDefault();
    move(e.key === "ArrowDown" ? 1 : -1);
  } else if (e.key === "Escape") {
    $("panel").hidden = true;
    $("query").focus();
  } else if (e.key === "Enter" && e.target === $("query")) {
    e.preventDefault();
    await search();
    links()[0]?.click();
  }
});
$("search").addEventListener("click", (e) => {
  if (e.target.closest("a")) $("panel").hidden = true; // it may lead to a heading of this page
});
document.addEventListener("click", (e) => {
  if (!$("search").contains(e.target)) $("panel").hidden = true;
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest("input, textarea")) {
    e.preventDefault();
    $("query").focus();
  }
});
$("search").hidden = false;

// The clipboard is there on https and on this machine alone.
if (navigator.clipboard) {
  for (const pre of document.querySelectorAll("main pre")) {
    const button = element("button", "Copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not permitted";
      }
    });
    const block = element("div");
    block.className = "code";
    pre.replaceWith(block);
    block.append(pre, button);
  }
}
