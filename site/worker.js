// The worker runs the rule engine, so that the page stays responsive whatever the text.
importScripts("wasm_exec.js");

// The first message is the compiled engine; each later one a request, answered in order.
onmessage = async (first) => {
  const go = new Go();
  const instance = await WebAssembly.instantiate(first.data, go.importObject);
  go.run(instance);
  onmessage = (message) => {
    const { id, request } = message.data;
    postMessage({ id, response: foremanAnswer(request) });
  };
  postMessage({ ready: true });
};
