// The worker runs the rule engine, so that the page stays responsive whatever the text.
importScripts("wasm_exec.js");

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
  onmessage = (message) => {
    const { id, request } = message.data;
    const response = foremanAnswer(request);
    if (go.exited || typeof response !== "string") throw new Error("the rule engine failed");
    postMessage({ id, response });
  };
  postMessage({ ready: true, first });
}
