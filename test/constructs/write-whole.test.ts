// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, TerraformStack } from "cdktn";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeWhole } from "../../constructs/index.ts";

let outdir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  outdir = mkdtempSync(join(tmpdir(), "talosmith-whole-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(outdir, { recursive: true, force: true });
});

describe("the folder of a synth", () => {
  test("that was killed is taken away by the next one", async () => {
    const synth = await halfway();
    synth.kill("SIGKILL");
    await once(synth, "exit");
    expect(staging()).toHaveLength(1);
    write();
    expect(staging()).toEqual([]);
  });

  test("that is at work is left to it", async () => {
    await halfway();
    const theirs = staging();
    expect(theirs).toHaveLength(1);
    write();
    expect(staging()).toEqual(theirs);
  });

  test.each([
    ["of a container whose processes are not seen", ".synth-1-2-abcdef"],
    ["of an older release", ".synth-abcdef"],
  ])("%s is left to it until it is too old to be at work", (_, name) => {
    const folder = join(outdir, name);
    mkdirSync(folder);
    write();
    expect(staging()).toEqual([name]);
    const before = Date.now() / 1000 - 2 * 60 * 60;
    utimesSync(folder, before, before);
    write();
    expect(staging()).toEqual([]);
  });
});

function write(): void {
  const app = new App({ outdir });
  new TerraformStack(app, "stack");
  writeWhole(app);
  expect(readdirSync(join(outdir, "stacks", "stack"))).toEqual(["cdk.tf.json"]);
}

function staging(): string[] {
  return readdirSync(outdir).filter((name) => name.startsWith(".synth-"));
}

async function halfway(): Promise<ChildProcess> {
  const program = join(import.meta.dirname, "synth-halfway.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, outdir], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [text] = await once(child.stdout, "data");
  expect(String(text)).toBe("halfway");
  return child;
}
