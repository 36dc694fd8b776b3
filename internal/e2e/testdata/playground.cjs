// Runs the engine of the playground under node: a list of requests on standard input, the answers
// on standard output, each with the milliseconds of its fastest run, on the clock and of the CPU.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");

const dir = process.argv[2];
require(path.resolve(dir, "wasm_exec.js"));

(async () => {
  const go = new Go();
  const engine = zlib.gunzipSync(fs.readFileSync(path.join(dir, "engine.bin")));
  const { instance } = await WebAssembly.instantiate(engine, go.importObject);
  go.run(instance);
  const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((request) => {
    const text = JSON.stringify(request);
    let answer;
    let took = Infinity;
    let cpu = Infinity;
    for (let n = 0; n < (request.runs ?? 1); n++) {
      const [start, used] = [performance.now(), process.cpuUsage()];
      answer = foremanAnswer(text);
      took = Math.min(took, performance.now() - start);
      const { user, system } = process.cpuUsage(used);
      cpu = Math.min(cpu, (user + system) / 1000);
    }
    return { ...JSON.parse(answer), took, cpu };
  });
  fs.writeSync(1, JSON.stringify(answers));
  process.exit(0);
})();
