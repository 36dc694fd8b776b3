// The rule engine in a worker, with a watchdog.

// How long an answer may take, in milliseconds: longer on a slow machine, as its first answer shows.
// As many milliseconds as timesFirst first answers, within bounds.
const patience = { least: 2000, most: 10_000, timesFirst: 10 };

// How long a worker may take to begin, in milliseconds, and how many in a row may fail at it.
const start = { longest: 60_000, attempts: 2 };

// The page's policy permits scripts by this policy alone: the worker's own file.
const policy = window.trustedTypes?.createPolicy("playground", {
  createScriptURL: (url) => {
    if (url !== "worker.js") throw new TypeError("only worker.js is a worker");
    return url;
  },
});

/** compile loads the engine, which is compressed: hosts do not compress every type of file. */
async function compile() {
  const answer = await fetch("engine.bin");
  if (!answer.ok) throw new Error(`load the rule engine: the server answered ${answer.status}`);
  const plain = answer.body.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

/** An Engine answers the newest request; requests that a newer one overtakes get no answer. */
export class Engine {
  #module = compile();
  #worker = null;
  #ready = false;
  #busy = null; // the request at work
  #next = null; // the newest request that waits
  #timer = 0;
  #patience = patience.least;
  #count = 0;
  #failures = 0; // workers in a row that failed before they were ready

  /** answered gets each response, ended the reason why there is none. */
  constructor({ answered, ended }) {
    this.answered = answered;
    this.ended = ended;
    this.#start();
  }

  ask(request) {
    this.#next = { id: ++this.#count, request };
    this.#send();
  }

  async #start() {
    try {
      const compiled = await this.#module;
      const worker = new Worker(policy ? policy.createScriptURL("worker.js") : "worker.js");
      this.#worker = worker;
      this.#timer = setTimeout(() => this.#failed(`it did not begin within ${start.longest / 1000} s`), start.longest);
      worker.onmessage = (message) => this.#receive(message.data);
      worker.onerror = (event) => {
        event.preventDefault();
        if (!this.#ready) {
          this.#failed(event.message || "its files could not be loaded");
          return;
        }
        const deep = /call stack|recursion/.test(event.message);
        const why = deep ? "these rules, or this event, are nested too deeply" : event.message || "its worker failed";
        this.#restart(`The rule engine stopped: ${why}. Change the text to try again.`);
      };
      worker.postMessage(compiled);
    } catch (error) {
      this.ended(`${error.message}. Reload the page to try again.`);
    }
  }

  #send() {
    if (!this.#ready || this.#busy || !this.#next) return;
    this.#busy = this.#next;
    this.#next = null;
    this.#busy.since = performance.now();
    this.#timer = setTimeout(
      () => this.#restart(`Stopped after ${Math.round(this.#patience / 1000)} s: these rules take too long on this event. Change the text to try again.`),
      this.#patience,
    );
    this.#worker.postMessage({ id: this.#busy.id, request: JSON.stringify(this.#busy.request) });
  }

  #receive({ ready, first, failed, id, response }) {
    if (failed !== undefined) {
      this.#failed(failed);
      return;
    }
    if (ready) {
      clearTimeout(this.#timer);
      this.#ready = true;
      this.#failures = 0;
      this.#patience = Math.min(Math.max(patience.least, patience.timesFirst * first), patience.most);
    } else if (this.#busy && id === this.#busy.id) {
      clearTimeout(this.#timer);
      const took = performance.now() - this.#busy.since;
      this.#busy = null;
      if (!this.#next) this.answered(JSON.parse(response), took);
    }
    this.#send();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#worker.terminate();
    this.#ready = false;
    this.#busy = null;
  }

  #restart(why) {
    this.#stop();
    this.ended(why);
    this.#start();
  }

  /** A worker failed before it was ready: the next one may do better, but not for ever. */
  #failed(why) {
    this.#stop();
    if (++this.#failures < start.attempts) {
      this.#start();
    } else {
      this.ended(`The rule engine did not start: ${why}. Reload the page to try again.`);
    }
  }
}
