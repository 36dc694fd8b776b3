// The worker runs the rule engine, so that the page stays responsive whatever the text.
importScripts("wasm_exec.js");

// While a browser optimises WebAssembly, answers are slow. It begins when the code runs. So the worker
// repeats its last request while it has nothing else to do, until the engine has worked for this many
// milliseconds. It does not repeat a slow request, because the next one would wait for it.
const warmUp = { enough: 2000, slow: 150 };

// The first message is the compiled engine; each later one a request, answered in order.
onmessage = async (start) => {
  try {
    await begin(start.data);
  } catch (error) {
    // An error within a promise is no error of the worker: the page would wait for ever.
    postMessage({ failed: String(error?.message ?? error) });
  }
};

async function begin(compiled) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(compiled, go.importObject);
  go.run(instance);
  // The engine's first answer is slow, as code and tables are made ready for it.
  const since = performance.now();
  foremanAnswer(JSON.stringify({ rules: 'version: 1\nrules:\n  - {id: a, when: issue.title matches "(?i)a", then: [{add_label: a}]}\n' }));
  const first = performance.now() - since;
  let worked = 0, repetition = 0;
  const answer = (request) => {
    const since = performance.now();
    const response = foremanAnswer(request);
    const took = performance.now() - since;
    worked += took;
    if (worked < warmUp.enough && took < warmUp.slow) repetition = setTimeout(repeat, 0, request);
    return response;
  };
  const repeat = (request) => {
    try {
      answer(request);
    } catch {
      // The next request fails, too, and is reported.
    }
  };
  onmessage = (message) => {
    clearTimeout(repetition);
    const { id, request } = message.data;
    const response = answer(request);
    if (go.exited || typeof response !== "string") throw new Error("the rule engine failed");
    postMessage({ id, response });
  };
  postMessage({ ready: true, first });
}
