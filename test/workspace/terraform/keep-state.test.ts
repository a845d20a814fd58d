// SPDX-License-Identifier: Apache-2.0
// A state while Terraform changes it: copies, and what is put back when a terraform was killed while it wrote.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Environment } from "../../../model/index.ts";
import { programPath } from "../../../talos/program-path.ts";
import { type ChangeRecord, readRecord, writeRecord } from "../../../workspace/terraform/change-record.ts";
import { keepingState, othersCreated, putBackCutOff } from "../../../workspace/terraform/keep-state.ts";
import { readState, removeState } from "../../../workspace/terraform/state-file.ts";
import { Terraform, type TerraformEnd, TerraformError } from "../../../workspace/terraform/terraform.ts";
import { testContext } from "../../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-kept-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linux = process.platform === "linux";
const context = testContext({ cwd: folder, env: process.env });
const warnings: string[] = [];
afterEach(() => void warnings.splice(0));

/** A state in a project of its own, with what it holds before. */
function stateOf(before: string | undefined): string {
  const path = join(mkdtempSync(join(folder, "project-")), "state", "local.tfstate");
  mkdirSync(dirname(path));
  if (before !== undefined) writeFileSync(path, before);
  return path;
}
const text = (serial: number) => `{"version":4,"serial":${serial}}`;
const indented = (serial: number) => `${JSON.stringify({ version: 4, resources: [{ a: {} }], serial }, null, 2)}\n`;
const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
const filesBeside = (path: string) => {
  const backups = join(dirname(path), "backups");
  return existsSync(backups) ? readdirSync(backups).sort() : [];
};
const keep = (path: string, change: () => Promise<unknown>, others: readonly string[] = []) =>
  keepingState({ path, others, context, warn: (message) => warnings.push(message) }, change);

/** Writes as Terraform does, and returns once the system has reported the write. */
async function write(path: string, content: string): Promise<void> {
  const watcher = watch(dirname(path));
  const reported = once(watcher, "change");
  writeFileSync(path, content);
  await reported;
  await setImmediate();
  watcher.close();
}

const lockFile = (path: string) => join(dirname(path), ".local.tfstate.lock.info");

/** What Terraform writes when it has got the lock, and leaves when it is killed. */
async function takeLock(path: string, id = "f404c228"): Promise<void> {
  const who = { Who: `ann@${hostname()}`, Created: "2026-11-17T04:00:06.711Z" };
  await write(lockFile(path), JSON.stringify({ ID: id, Operation: "OperationTypeApply", ...who }));
}

/** Terraform writes these versions and ends. */
function change(path: string, versions: readonly string[], end: TerraformEnd | "done") {
  return async () => {
    await takeLock(path);
    for (const content of versions) await write(path, content);
    if (end !== "killed") rmSync(lockFile(path));
    if (end === "done") return "done";
    throw new TerraformError(end, "it ended");
  };
}

describe("a change of a state", () => {
  test("is followed by a copy when it was the first", async () => {
    const path = stateOf(undefined);
    expect(await keep(path, async () => writeFileSync(path, text(1)))).toBeUndefined();
    expect([filesBeside(path), warnings]).toEqual([["local.1.tfstate"], []]);
    expect(contentOf(join(dirname(path), "backups/local.1.tfstate"))).toBe(text(1));
  });

  test("has a copy before and after it, also when it failed", async () => {
    const path = stateOf(text(4));
    await expect(keep(path, change(path, [text(5), text(6)], "failed"))).rejects.toThrow("it ended");
    expect([filesBeside(path), warnings]).toEqual([["local.4.tfstate", "local.6.tfstate"], []]);
  });

  test("keeps its own outcome when the state was cut off meanwhile, which is warned about", async () => {
    const path = stateOf(text(4));
    expect(await keep(path, change(path, ['{"versi'], "done"))).toBe("done");
    expect(warnings).toEqual([expect.stringContaining("is not a whole Terraform state")]);
  });

  test("does not touch a whole state of which no copy can be made", async () => {
    const path = stateOf(undefined);
    const full = async () => {
      rmSync(join(dirname(path), "backups"), { recursive: true });
      writeFileSync(join(dirname(path), "backups"), "in the way of the copy");
      await change(path, [indented(1)], "killed")();
    };
    await expect(keep(path, full)).rejects.toThrow("it ended");
    expect(contentOf(path)).toBe(indented(1));
    expect(warnings).toEqual([expect.stringMatching(/^no copy of the state was made after the change: .*backups/)]);
  });

  interface Cut {
    readonly what: string;
    readonly before: string | undefined;
    readonly written: readonly string[];
    readonly end?: TerraformEnd;
    readonly others?: readonly string[];
    readonly left: string | undefined;
    readonly copies: readonly string[];
    readonly warning?: RegExp;
  }
  const isBack = /^Terraform was killed while it wrote \S+local\.tfstate\. The version before that write is back; /;
  const staysWith = /local\.tfstate is not a whole .* cp state\/backups\/local\.6\.tfstate /;
  const cuts: readonly Cut[] = [
    {
      what: "is put back as it was before the write",
      ...{ before: text(4), written: [text(5), indented(6), ""] },
      ...{ left: indented(6), copies: ["local.4.tfstate", "local.6.tfstate"], warning: isBack },
    },
    {
      what: "is put back as it was before the change, when that was the first write",
      ...{ before: text(4), written: [""], left: text(4), copies: ["local.4.tfstate"], warning: isBack },
    },
    {
      what: "is none again when there was none",
      ...{ before: undefined, written: ["", indented(1).slice(0, 40)], left: undefined, copies: [], warning: isBack },
    },
    {
      what: "stays cut off where resources of other providers are created, which are named with the copy",
      ...{ before: text(4), written: [indented(6), ""], others: ["aws_s3_bucket.logs"], left: "" },
      copies: ["local.4.tfstate", "local.6.tfstate", "local.change.json", "local.newest.tfstate"],
      warning: /is empty: .*\. It was creating aws_s3_bucket\.logs, .* cp state\/backups\/local\.newest\.tfstate /,
    },
    {
      what: "stays cut off where Terraform was not killed, and the copy is named",
      ...{ before: text(4), written: [indented(6), "{"], end: "failed", left: "{" },
      ...{ copies: ["local.4.tfstate", "local.6.tfstate"], warning: staysWith },
    },
    {
      what: "is left alone where another run has its lock",
      ...{ before: undefined, written: [""], end: "locked", left: "", copies: [] },
    },
  ];
  test.skipIf(!linux).each(cuts)("whose last write was cut off $what", async (cut) => {
    const path = stateOf(cut.before);
    const end = cut.end ?? "killed";
    await expect(keep(path, change(path, cut.written, end), cut.others)).rejects.toThrow("it ended");
    expect(warnings).toEqual(cut.warning === undefined ? [] : [expect.stringMatching(cut.warning)]);
    expect(contentOf(path)).toBe(cut.left);
    expect(filesBeside(path)).toEqual(cut.copies);
  });

  const holders: ChildProcess[] = [];
  afterAll(() => {
    for (const holder of holders) holder.kill("SIGKILL");
  });
  /** Holds the lock of a file as Terraform does, which Node itself cannot. */
  async function hold(path: string): Promise<void> {
    const script =
      "import fcntl,sys,time\nf=open(sys.argv[1],'r+')\nfcntl.lockf(f,fcntl.LOCK_EX)\nprint('held',flush=True)\ntime.sleep(600)";
    const holder = spawn("python3", ["-c", script, path], { stdio: ["ignore", "pipe", "inherit"] });
    holders.push(holder);
    await once(holder.stdout, "data");
  }
  const hasPython = programPath("python3", process.env.PATH) !== undefined;

  test.skipIf(!linux || !hasPython)("that was killed leaves a state alone that a process holds", async () => {
    const path = stateOf(undefined);
    const killed = async () => {
      await takeLock(path);
      await write(path, "");
      await hold(path);
      throw new TerraformError("killed", "it ended");
    };
    await expect(keep(path, killed)).rejects.toThrow("it ended");
    expect(warnings).toEqual([expect.stringMatching(/is empty: ann@\S+ is applying since/)]);
    await putBackCutOff(placeOf(path));
    expect(contentOf(path)).toBe("");
  });
});

const written: string[] = [];
afterEach(() => void written.splice(0));
function placeOf(path: string) {
  const environment = { name: "local", backend: { kind: "local" } } as unknown as Environment;
  const stderr = { write: (line: string) => void written.push(line) };
  return { root: dirname(dirname(path)), environment, context: { ...context, stderr } };
}

/** What is on disk when talosmith and terraform are killed at once, after these writes. */
async function killedTogether(before: string | undefined, versions: readonly string[], others: readonly string[] = []) {
  const path = stateOf(before);
  const copy = join(mkdtempSync(join(folder, "killed-")), "state", "local.tfstate");
  await keep(
    path,
    async () => {
      await change(path, versions, "killed")().catch(() => {});
      const newest = versions.findLast((version) => version.endsWith("}\n")) ?? before;
      const newestFile = join(dirname(path), "backups/local.newest.tfstate");
      await expect.poll(() => contentOf(newestFile)).toBe(newest);
      await expect.poll(async () => (await readRecord(path))?.lock).toBe("f404c228");
      cpSync(dirname(path), dirname(copy), { recursive: true, preserveTimestamps: true });
    },
    others,
  );
  const known = await readRecord(copy);
  if (known?.process === undefined) throw new Error("the change has no record");
  // Another process than this one, which lives.
  await writeRecord(copy, { ...known, process: { ...known.process, started: "1" } });
  return { path: copy, known };
}

describe.skipIf(!linux)("a state that was cut off when talosmith and terraform were killed together", () => {
  test.each([
    ["as it was before the write", text(4), [text(5), indented(6), ""], indented(6)],
    ["as it was before the change", text(4), [indented(6).slice(0, 40)], text(4)],
    ["as none, where there was none", undefined, ["", indented(1).slice(0, 40)], undefined],
  ])("is put back by the next change %s", async (_, before, versions, left) => {
    const { path } = await killedTogether(before, versions);
    await expect(readState(path)).rejects.toMatchObject({
      message: expect.stringMatching(
        /: ann@\S+ was applying since 2026-11-17 04:00:06 UTC, and that process has ended$/,
      ),
      hint: "Run talosmith deploy local, or destroy: it goes on from the state before that write.",
    });
    await putBackCutOff(placeOf(path));
    expect(contentOf(path)).toBe(left);
    expect(written).toEqual([
      expect.stringMatching(/^Put state\/local\.tfstate back as it was before a write .* ann@/),
    ]);
    expect(filesBeside(path).filter((name) => /change|newest/.test(name))).toEqual([]);
  });

  test("stays where resources of other providers were created, and is refused with them and the newest copy", async () => {
    const { path } = await killedTogether(text(4), [indented(6), ""], ["aws_s3_bucket.logs", "terraform_data.once"]);
    await putBackCutOff(placeOf(path));
    expect([contentOf(path), written]).toEqual(["", []]);
    await expect(readState(path)).rejects.toMatchObject({
      message: expect.stringContaining("and that process has ended"),
      hint: expect.stringMatching(
        /^It was creating aws_s3_bucket\.logs, terraform_data\.once, .* cp state\/backups\/local\.newest\.tfstate /,
      ),
    });
    for (const name of ["local.newest.tfstate", "local.change.json"])
      expect(statSync(join(dirname(path), "backups", name)).mode & 0o777).toBe(0o600);
    await removeState(path);
    expect(existsSync(dirname(path)) && readdirSync(dirname(path))).toEqual([".local.tfstate.lock.info"]);
  });

  type Changed = (path: string, known: ChangeRecord) => Promise<void> | void;
  const kept: readonly (readonly [string, Changed])[] = [
    ["the run of the record is alive", (path, known) => writeRecord(path, known)],
    ["it ran on another computer", (path, known) => writeRecord(path, { ...known, host: "elsewhere" })],
    ["another terraform has had the lock since", (path) => takeLock(path, "0a1b2c3d")],
    ["a whole state was written meanwhile", (path) => writeFileSync(path, text(9))],
    ["what it was before is not known", (path) => rmSync(join(dirname(path), "backups/local.newest.tfstate"))],
  ];
  test.each(kept)("stays where %s", async (_, changed) => {
    const { path, known } = await killedTogether(text(4), [indented(6), ""]);
    await changed(path, known);
    const before = contentOf(path);
    await putBackCutOff(placeOf(path));
    expect([contentOf(path), written]).toEqual([before, []]);
  });

  test("is not recorded by a second run, which leaves the record of the first alone", async () => {
    const path = stateOf(text(4));
    await keep(path, async () => {
      const first = await readRecord(path);
      await expect(keep(path, change(path, [text(5)], "locked"), ["a.b"])).rejects.toThrow("it ended");
      expect((await readRecord(path))?.others).toEqual(first?.others);
    });
    expect(await readRecord(path)).toBeUndefined();
  });
});

test.each([
  ["talosmith_cluster", "create", []],
  ["talosmith_simulated_machine", "replace", []],
  ["aws_instance", "create", ["x.y"]],
  ["terraform_data", "replace", ["x.y"]],
  ["aws_instance", "update", []],
  ["aws_instance", "delete", []],
  // Its secrets are in the state alone.
  ["talosmith_secrets", "create", ["x.y"]],
] as const)("%s, %s: what a rerun would create a second time is %j", (type, action, expected) => {
  const resource = { address: "x.y", type, action, name: "y", attributes: [], replacedFor: [] };
  expect(othersCreated({ resources: [resource] })).toEqual(expected);
});

const refusal = "Error: Error acquiring the state lock\\n\\nLock Info:\\n  ID: 1\\n  Operation: OperationTypeApply\\n";
test.skipIf(process.platform === "win32").each([
  ["exit 1", "failed"],
  ["kill -9 $$", "killed"],
  // A panic of terraform, and a wrapper whose terraform was killed.
  ["exit 11", "killed"],
  ["exit 137", "killed"],
  [`printf '${refusal}' >&2; exit 1`, "locked"],
] as const)("a terraform that does %j has ended as %s", async (script, end) => {
  const binary = join(mkdtempSync(join(folder, "bin-")), "terraform");
  writeFileSync(binary, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const terraform = new Terraform({ binary, directory: folder, env: process.env, signal: context.signal });
  await expect(
    terraform.apply("x", {
      events: () => {},
      env: {},
      isReported: () => false,
      isShown: () => false,
      subjectOf: (name) => ({ name }),
    }),
  ).rejects.toMatchObject({ end });
});
