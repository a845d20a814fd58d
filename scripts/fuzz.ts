// SPDX-License-Identifier: Apache-2.0
// Tries random inputs on everything that reads data from outside. The tests do the same with fewer inputs.
import { parseArgs } from "node:util";
import { type FuzzResult, fuzz } from "../test/fuzz/runner.ts";
import { targets } from "../test/fuzz/targets/index.ts";

const { values } = parseArgs({
  options: {
    inputs: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    first: { type: "string", default: "0" },
    target: { type: "string" },
  },
});
const number = (name: "inputs" | "seed" | "first") => {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name}: found ${values[name]}, expected a whole number`);
};
const chosen = targets.filter(({ name }) => values.target === undefined || name === values.target);
if (chosen.length === 0)
  throw new Error(`no target ${values.target}; there are ${targets.map(({ name }) => name).join(", ")}`);

// A run of hours may be stopped: the table then has what was tried until then.
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

console.log("| target | inputs | accepted | CPU s | slowest input | most heap | faults |");
console.log("|---|---|---|---|---|---|---|");
for (const target of chosen) {
  if (stop.signal.aborted) break;
  const result = await fuzz(target, {
    inputs: number("inputs"),
    seed: number("seed"),
    first: number("first"),
    signal: stop.signal,
    progress: (done) => process.stderr.isTTY && process.stderr.write(`\r${target.name} ${done}`),
  });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  console.log(lineOf(result));
  for (const { what, replay, input } of result.faults)
    console.error(`\n${target.name}: ${what}\n${replay}\n${input}\n`);
  if (result.faults.length > 0) process.exitCode = 1;
}

function lineOf(result: FuzzResult): string {
  const { target, inputs, accepted, seconds, worstMilliseconds, worstMegabytes, faults } = result;
  const share = `${Math.round((100 * accepted) / Math.max(inputs, 1))} %`;
  const cells = [target, inputs.toLocaleString("en"), share, seconds.toFixed(0)];
  return `| ${[...cells, `${worstMilliseconds.toFixed(0)} ms`, `${worstMegabytes.toFixed(0)} MB`, faults.length].join(" | ")} |`;
}
