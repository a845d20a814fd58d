// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { registerDoctor, registerStatus } from "../../../cli/commands/inspect.ts";
import { registerDestroy, registerPlan, registerUnlock, registerUp } from "../../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { programPath } from "../../../talos/program-path.ts";
import { isLocked } from "../../../workspace/terraform/state-lock.ts";
import { testContext } from "../../support/command-context.ts";

let root: string;
const at = (path: string) => join(root, path);
const state = "state/tiny.tfstate";
const lock = "state/.tiny.tfstate.lock.info";

function environment(text: string): void {
  writeFileSync(at("environments/tiny.yaml"), text);
}
const simulated = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\n";
/** An address on which nothing listens. */
const metal =
  "infrastructure: { kind: metal, trustOnFirstUse: true, machines: { m-1: { address: 127.0.0.9, role: controlplane } } }\n";
const libvirt =
  "infrastructure: { kind: libvirt, trustOnFirstUse: true, uri: qemu:///system }\ncontrolPlane: { count: 1 }\nworkers: []\n";

/** What a killed apply leaves: terraform makes the state, locks it, and writes who it is. */
function killedApply(who = `ann@${hostname()}`, operation = "OperationTypeApply"): void {
  writeFileSync(at(state), "");
  const fields = { ID: "f404c228", Operation: operation, Who: who, Created: "2026-11-17T04:00:06.711Z", Path: "x" };
  writeFileSync(at(lock), JSON.stringify(fields));
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-abandoned-"));
  for (const folder of ["environments", "state"]) mkdirSync(at(folder));
  writeFileSync(at("cdktf.json"), "{}");
  environment(simulated);
  killedApply();
});
afterEach(() => rmSync(root, { recursive: true }));

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root, env: { PATH: "/nowhere" } });
  const registrations = [registerDestroy, registerDoctor, registerPlan, registerStatus, registerUnlock, registerUp];
  await runProgram(createProgram(context, registrations), args, context);
  return context.written;
}

const cleared =
  /^Removed state\/tiny\.tfstate and its lock\. It was empty: ann@\S+ was applying since 2026-11-17 04:00:06 UTC, and the process ended before it created anything\.$/m;

describe.skipIf(process.platform !== "linux")("an apply that was killed before it created anything", () => {
  test.each([
    ["unlock", 0],
    ["destroy", 0],
    ["down", 0],
    ["plan", 2],
  ])("is cleared by %s, and reported", async (command, code) => {
    const { stderr, exitCode } = await talosmith(command, "tiny");
    expect(stderr).toMatch(cleared);
    expect(exitCode).toBe(code);
    expect([existsSync(at(state)), existsSync(at(lock))]).toEqual([false, false]);
  });

  test("is no error for doctor, which changes nothing", async () => {
    const { stdout } = await talosmith("doctor", "tiny");
    expect(stdout).toMatch(/^ok +tiny: state +empty: ann@\S+ was applying .*; the next deploy removes it/m);
    expect([existsSync(at(state)), existsSync(at(lock))]).toEqual([true, true]);
  });

  test("of machines that other providers make is cleared as long as there are no secrets", async () => {
    environment(libvirt);
    expect((await talosmith("unlock", "tiny")).stderr).toMatch(cleared);
    killedApply();
    mkdirSync(at("secrets"));
    writeFileSync(at("secrets/tiny.yaml"), "kept");
    expect((await talosmith("unlock", "tiny")).stderr).not.toMatch(cleared);
  });

  const kept: readonly (readonly [string, () => void])[] = [
    ["was begun on another machine", () => killedApply("ann@elsewhere")],
    [
      "has written its state, which was cut off",
      () => {
        const later = new Date(statSync(at(lock)).mtimeMs + 10);
        utimesSync(at(state), later, later);
      },
    ],
    ["has an older state in terraform's own copy", () => writeFileSync(at(`${state}.backup`), "{}")],
    [
      "has an older state in a copy of ours",
      () => {
        mkdirSync(at("state/backups"));
        writeFileSync(at("state/backups/tiny.4.tfstate"), '{"version":4}');
      },
    ],
    ["is for machines that do not answer", () => environment(metal)],
    ["has no record of who it was", () => rmSync(at(lock))],
  ];
  test.each(kept)("but not one that %s", async (_, change) => {
    change();
    for (const command of ["unlock", "destroy", "up"]) {
      const { stderr, exitCode } = await talosmith(command, "tiny", ...(command === "unlock" ? [] : ["--yes"]));
      expect(stderr).toMatch(/^Error: .*tiny\.tfstate is empty/m);
      expect(exitCode).toBe(1);
    }
    expect((await talosmith("doctor", "tiny")).stdout).toMatch(/^fault +tiny: state +.*tiny\.tfstate is empty/m);
    expect(existsSync(at(state))).toBe(true);
  });
});

describe.skipIf(process.platform !== "linux")("an apply that was killed while it wrote the state", () => {
  beforeEach(() => {
    writeFileSync(at(state), '{"version":4,"ser');
    mkdirSync(at("state/backups"));
    writeFileSync(at("state/backups/tiny.newest.tfstate"), '{"version":4,"serial":3,"resources":[]}');
    const record = { v: 1, host: hostname(), lock: "f404c228", first: true, others: [] };
    writeFileSync(at("state/backups/tiny.change.json"), JSON.stringify(record));
  });

  test.each(["plan", "status", "unlock", "doctor"])("is reported by %s, with what to run", async (command) => {
    const { stdout, stderr } = await talosmith(command, "tiny");
    const words = stdout + stderr;
    expect(words).toMatch(/not a whole Terraform state: ann@\S+ was applying since .* and that process has ended/);
    expect(words).toContain("Run talosmith deploy tiny, or destroy");
    expect(readFileSync(at(state), "utf8")).toBe('{"version":4,"ser');
  });

  test.each(["destroy", "down"])("is put back by %s, which says so", async (command) => {
    const { stderr, exitCode } = await talosmith(command, "tiny");
    expect(stderr).toMatch(/^Put state\/tiny\.tfstate back as it was before a write that was cut off: ann@/m);
    expect([exitCode, existsSync(at(state))]).toEqual([0, false]);
    expect(existsSync(at("state/backups"))).toBe(false);
  });
});

describe("the lock of a file", () => {
  const context = () => testContext({ cwd: root, env: process.env });
  const asked = (locks: string) => {
    writeFileSync(at("locks"), locks);
    return isLocked(at(state), context(), at("locks"));
  };

  test("is what the kernel lists for its inode", async () => {
    const { ino } = statSync(at(state));
    const line = (inode: number, kind = "POSIX ") => `1: ${kind} ADVISORY  WRITE 812 fe:00:${inode} 0 EOF\n`;
    expect(await asked(line(ino + 1) + line(ino))).toBe(true);
    expect(await asked(line(ino + 1))).toBe(false);
    expect(await asked(line(Number(`${ino}0`)))).toBe(false);
    // Of another kind: terraform does not take that one.
    expect(await asked(line(ino, "FLOCK "))).toBe(false);
    expect(await asked("")).toBe(false);
  });

  test.skipIf(programPath("lsof", process.env.PATH) === undefined)(
    "is what lsof says where no kernel lists it",
    async () => {
      const isHeld = () => isLocked(at(state), context(), at("no-locks"));
      expect(await isHeld()).toBe(false);
      const hold = `require("node:fs").openSync(${JSON.stringify(at(state))}, "r+"); console.log("open"); setInterval(() => {}, 1000)`;
      const holder = spawn(process.execPath, ["-e", hold], { stdio: ["ignore", "pipe", "ignore"] });
      await once(holder.stdout, "data");
      expect(await isHeld()).toBe(true);
      holder.kill("SIGKILL");
      await once(holder, "close");
      expect(await isHeld()).toBe(false);
    },
  );

  test("is taken for held where nobody can tell", async () => {
    const blind = testContext({ cwd: root, env: { PATH: "/nowhere" } });
    expect(await isLocked(at(state), blind, at("no-locks"))).toBe(true);
  });
});
