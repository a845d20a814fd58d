// SPDX-License-Identifier: Apache-2.0
// Runs the whole life of a cluster by the real command on real Talos and Kubernetes, or on the simulator, and keeps what was
// seen in docs/tried.json and docs/tried.md. An operation that was not run keeps its last result with its date.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { plainText } from "../talos/plain-text.ts";
import { type LabName, labs, realLab, simulatedLab } from "./real/lab.ts";
import { recordedLife, unknownDifferences } from "./real/life-differences.ts";
import { chosenOperations, type Operation, operations } from "./real/operations.ts";
import { Project } from "./real/project.ts";
import { type Cell, pageWith, record, tableOf, withResults } from "./real/record.ts";
import { live } from "./real/scenario.ts";

const { values } = parseArgs({
  options: {
    lab: { type: "string", default: "real" },
    only: { type: "string", multiple: true },
    // Runs one scenario instead: on the real lab it is recorded, on the simulator compared with the recording.
    compare: { type: "boolean", default: false },
    // Leaves the project folder and its log for inspection.
    keep: { type: "boolean", default: false },
  },
});
const labName = labNameOf(values.lab);
const chosen = chosenOperations(labName, values.only);
const lab =
  labName === "real" ? realLab(process.env.TALOSMITH_REAL_LAB, values.compare ? "life" : "trial") : simulatedLab();
const project = new Project(lab);
const results = new Map<string, Cell>();
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

if (values.compare) {
  try {
    await compareLife();
  } finally {
    await close();
  }
  process.exit();
}

console.log(`${chosen.length} operations, lab ${labName}, log in ${project.root}/log.txt`);
try {
  for (const [index, operation] of chosen.entries()) {
    if (stop.signal.aborted) break;
    const reason = reasonToLeaveOut(operation);
    const result = reason === undefined ? await resultOf(operation) : undefined;
    if (result !== undefined) results.set(operation.name, result);
    const word = result === undefined ? `not run: ${reason}` : `${result.result}: ${result.text}`;
    console.log(`${index + 1} of ${chosen.length}, ${operation.name}: ${word}`);
    await keepResults();
  }
} finally {
  await close();
}
console.log(`\n${tableOf(await keepResults())}`);
const seen = [...results.values()].filter(({ result }) => result === "seen").length;
console.log(`\n${seen} of ${chosen.length} operations seen`);
if (seen < chosen.length) process.exitCode = 1;

async function close(): Promise<void> {
  if (labName === "simulator") await project.talosmith(["sim", "down"]);
  lab.close();
  if (!values.keep) project.remove();
}

async function compareLife(): Promise<void> {
  console.log(`one scenario, lab ${labName}, log in ${project.root}/log.txt`);
  const found = await live(project);
  if (labName === "real") {
    await writeFileAtomically(recordedLife, `${JSON.stringify(found, undefined, 2)}\n`);
    console.log(`${found.length} phases recorded in ${recordedLife}`);
    return;
  }
  const unknown = unknownDifferences(JSON.parse(readFileSync(recordedLife, "utf8")), found);
  console.log(unknown.length === 0 ? "as recorded, but for the known differences" : unknown.join("\n"));
  if (unknown.length > 0) process.exitCode = 1;
}

function reasonToLeaveOut({ needs, program }: Operation): string | undefined {
  if (needs !== undefined && results.get(needs)?.result !== "seen") return `"${needs}" did not succeed`;
  if (program !== undefined && spawnSync(program, ["version"], { stdio: "ignore" }).error !== undefined)
    return `${program} is not on the PATH`;
  return undefined;
}

async function resultOf({ run }: Operation): Promise<Cell> {
  const date = new Date().toISOString().slice(0, 10);
  const began = performance.now();
  const took = () => Math.round((performance.now() - began) / 1000);
  try {
    const text = clean(await run(project));
    return { date, result: "seen", text, seconds: took() };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    const [first = ""] = String(error instanceof Error ? error.message : error).split("\n");
    return { date, result: "failed", text: clean(first), seconds: took() };
  }
}

/** Text of machines and of commands, without the paths of this machine. */
function clean(text: string): string {
  return plainText(text.replaceAll(project.root, "<project>"));
}

async function keepResults() {
  const old = record.parse(JSON.parse(readFileSync("docs/tried.json", "utf8")));
  const names = operations.map(({ name }) => name);
  const rows = withResults(old, names, labName, results);
  await writeFileAtomically("docs/tried.json", `${JSON.stringify(rows, undefined, 2)}\n`);
  await writeFileAtomically("docs/tried.md", pageWith(readFileSync("docs/tried.md", "utf8"), rows));
  return rows;
}

function labNameOf(word: string): LabName {
  const found = labs.find((each) => each === word);
  if (found !== undefined) return found;
  throw new Error(`--lab: found ${word}, expected ${labs.join(" or ")}`);
}
