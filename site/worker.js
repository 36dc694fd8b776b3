// The worker runs the rule engine, so that the page stays responsive whatever the text.
importScripts("wasm_exec.js");

// The first message is the compiled engine; each later one a request, answered in order.
onmessage = async (first) => {
  const go = new Go();
  const instance = await WebAssembly.instantiate(first.data, go.importObject);
  go.run(instance);
  onmessage = (message) => {
    const { id, request } = message.data;
    const response = foremanAnswer(request);
    if (go.exited || typeof response !== "string") throw new Error("the rule engine failed");
    postMessage({ id, response });
  };
  postMessage({ ready: true });
};
