// SPDX-License-Identifier: Apache-2.0
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectSimulator } from "../../../workspace/simulator.ts";
import { findProgram } from "../../support/programs.ts";
import {
  type RecordedRun,
  recordedProject,
  recordingText,
  recordRun,
  runFile,
  shownRun,
} from "../../support/recorded-run.ts";

const folder = new URL("../../golden/recordings/", import.meta.url).pathname;
const at = (name: string) => join(folder, name);
const [older, newer] = ["v1.13.8", "v1.13.9"];

/** A line in CI starts so, where it is one of progress. */
const timed = /^\d\d:\d\d:\d\d \[\d+\/\d+\+?\] [✓✗…!] /;

describe.each(["deploy", "deploy-terraform", "upgrade", "failed-upgrade"])("the recorded %s", (name) => {
  test.each(["ci", "terminal"] as const)("is shown in a %s as it was before", async (view) => {
    const run = JSON.parse(readFileSync(at(`${name}.json`), "utf8")) as RecordedRun;
    const root = recordedProject(run.file);
    try {
      const text = await shownRun(run, root, view);
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(at(`${name}.${view}.txt`), text);
      expect(text).toBe(readFileSync(at(`${name}.${view}.txt`), "utf8"));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

test("a terminal of 80 columns wraps no line of progress, and a log has the time and the counter in each", () => {
  for (const name of ["deploy", "deploy-terraform", "upgrade", "failed-upgrade"]) {
    const [, ...pictures] = readFileSync(at(`${name}.terminal.txt`), "utf8").split(/^--- .*\n/m);
    const rows = pictures.slice(0, -1).flatMap((picture) => picture.split("\n"));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => row.length >= 80)).toEqual([]);
    // Plan, summary and errors neither: their lines are broken between words.
    const all = readFileSync(at(`${name}.terminal.txt`), "utf8").split("\n");
    expect(all.filter((line) => line.length >= 80)).toEqual([]);
    const log = readFileSync(at(`${name}.ci.txt`), "utf8").split("\n");
    const progress = log.filter((line) => /^\d\d:\d\d/.test(line));
    expect(progress.length).toBeGreaterThan(10);
    expect(progress.filter((line) => !timed.test(line))).toEqual([]);
  }
});

test.each(["deploy", "deploy-terraform", "upgrade"])("%s counts the steps that its plan has shown", (name) => {
  const text = readFileSync(at(`${name}.ci.txt`), "utf8");
  const planned = [...text.matchAll(/^(?:Infrastructure|Steps) \((\d+)\)$/gm)].map(([, count]) => Number(count));
  const totals = [...text.matchAll(/ \[\d+\/(\d+)\] /g)].map(([, total]) => Number(total));
  expect(new Set(totals)).toEqual(new Set([planned.reduce((sum, count) => sum + count, 0)]));
});

test("through Terraform and without, the first line, the steps and the end are the same but for the manager", () => {
  const [direct, terraform] = ["deploy", "deploy-terraform"].map((name) => {
    const text = readFileSync(at(`${name}.ci.txt`), "utf8");
    const steps = [...text.matchAll(/\] ✓ (.*?)(?: \(\d+ s\))?$/gm)].map(([, step = ""]) => step).sort();
    const end = text.slice(text.indexOf("\nlab is up")).replace(/\(.*?\)/, "");
    return { steps, end };
  });
  expect(terraform).toEqual(direct);
});

const save = (name: string, run: RecordedRun) => writeFileSync(at(`${name}.json`), recordingText(run));

/** Records a deploy of the older Talos and then, where it has a name, an upgrade; a worker may not boot the newer one. */
async function record(path: string, names: { deploy?: string; upgrade?: string }, broken?: string): Promise<void> {
  const file = runFile(older);
  const root = recordedProject(file);
  const simulator = projectSimulator(root);
  try {
    const deployed = await recordRun(root, path, { file });
    if (names.deploy !== undefined) save(names.deploy, deployed);
    if (names.upgrade === undefined) return;
    const machine = (await simulator.listMachines()).find(({ name }) => name === broken);
    if (machine !== undefined) await simulator.setFaults(machine.id, [{ kind: "bad-boot" }]);
    writeFileSync(join(root, "environments/lab.yaml"), runFile(newer));
    save(names.upgrade, await recordRun(root, path, { file, to: newer }));
  } finally {
    await simulator.shutdown();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Then UPDATE_GOLDEN=1 writes the texts. */
if (process.env.RECORD_RUNS === "1")
  test("runs are recorded on the simulator", { timeout: 600_000 }, async () => {
    await record("/nowhere", { deploy: "deploy", upgrade: "upgrade" });
    await record("/nowhere", { upgrade: "failed-upgrade" }, "lab-w-1");
    await record(`${dirname(findProgram("terraform") ?? "")}:${process.env.PATH}`, { deploy: "deploy-terraform" });
  });
