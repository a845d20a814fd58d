// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { canceled } from "../../../engine/execute/timing.ts";
import { lockedError } from "../../../workspace/terraform/state-lock.ts";
import { Terraform } from "../../../workspace/terraform/terraform.ts";

const directory = mkdtempSync(join(tmpdir(), "talosmith-locked-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const boxed = `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: resource temporarily unavailable
│ Lock Info:
│   ID:        6b1f6c3d-7c1c-9f0e-1a3e-3f1f4f5a6b7c
│   Path:      ../../../state/local.tfstate
│   Operation: OperationTypeApply
│   Who:       ada@project
│   Version:   1.11.4
│   Created:   2026-11-16 10:20:30.123456789 +0000 UTC
│   Info:      
╵`;

const remote = boxed.replace("resource temporarily unavailable", "operation error S3: PutObject, StatusCode: 412");
const plain = (words: string) => words.replaceAll(/[╷│╵] ?/g, "");

test.each([
  ["of a local state, with terraform's frame", boxed, "pgrep -a tofu"],
  ["of a local state, without colours", plain(boxed), "pgrep -a tofu"],
  ["of a remote state", remote, "tofu force-unlock 6b1f6c3d-7c1c-9f0e-1a3e-3f1f4f5a6b7c"],
])("a held lock %s is told by holder, time and what to do", (_, words, hint) => {
  expect(lockedError(words, "tofu")).toMatchObject({
    code: "failed-precondition",
    message: "the state is locked: ada@project is applying since 2026-11-16 10:20:30 UTC",
    hint: expect.stringContaining(hint),
  });
});

test.each([
  "Error: No valid credential sources found",
  "Error: Error acquiring the state lock\n\nThe state file could not be parsed as JSON",
])("%j is left in terraform's own words", (words) => {
  expect(lockedError(words, "terraform")).toBeUndefined();
});

describe("a state that somebody else has locked", () => {
  const calls = () => readFileSync(join(directory, "calls"), "utf8").trim().split("\n");
  const planning = boxed.replace("OperationTypeApply", "OperationTypePlan");
  const reason = "waiting for ada@project, which is planning and holds the lock of the state";

  /** A terraform that finds the state locked so often, and time that passes at once. `stopAfter`: so many sleeps. */
  function locked(words: string, times: number, stopAfter = Number.POSITIVE_INFINITY) {
    const detail = words.slice(words.indexOf("Error message"));
    const json = JSON.stringify({
      type: "diagnostic",
      diagnostic: { severity: "error", summary: "Error acquiring the state lock", detail },
    });
    for (const [name, text] of Object.entries({ words, json: `${json}\n`, calls: "" }))
      writeFileSync(join(directory, name), text);
    const binary = join(directory, "terraform");
    writeFileSync(
      binary,
      `#!/bin/sh\necho $1 >> calls\n[ $(wc -l < calls) -gt ${times} ] && exit 0\n[ $1 = apply ] && cat json || cat words >&2\nexit 1\n`,
    );
    chmodSync(binary, 0o755);
    let [elapsed, sleeps] = [0, 0];
    const timing = {
      elapsed: () => elapsed,
      sleep: async (milliseconds: number) => {
        elapsed += milliseconds;
        sleeps += 1;
        if (sleeps > stopAfter) throw canceled();
      },
    };
    const { signal } = new AbortController();
    return new Terraform({ binary, directory, env: { PATH: process.env.PATH }, signal, timing });
  }
  const nothing = { env: {}, subjectOf: () => ({ name: "" }), isReported: () => false, isShown: () => false };

  test("to plan is waited for by a plan and by an apply, with the reason", async () => {
    const reasons: string[] = [];
    await locked(planning, 2).plan("x", [], { waits: (each) => reasons.push(each) });
    expect([calls(), reasons]).toEqual([
      ["plan", "plan", "plan"],
      [reason, reason],
    ]);
    const events: object[] = [];
    await locked(planning, 1).apply("x", { ...nothing, events: (event) => events.push(event) });
    expect(calls()).toEqual(["apply", "apply"]);
    expect(events).toMatchObject([{ type: "waiting", message: reason }]);
  });

  test("to plan is not waited for without end, nor after Ctrl-C", async () => {
    const endless = locked(planning, 1000).plan("x", [], { waits: () => {} });
    await expect(endless).rejects.toThrow("the state is locked: ada@project is planning");
    expect(calls().length).toBe(152);
    const stopped = locked(planning, 1000, 1).apply("x", { ...nothing, events: () => {} });
    await expect(stopped).rejects.toMatchObject({ code: "canceled" });
  });

  test("to apply is not waited for: what was planned may be done by then", async () => {
    await expect(locked(boxed, 1).plan("x", [], { waits: () => {} })).rejects.toThrow("ada@project is applying");
    await expect(locked(boxed, 1).apply("x", { ...nothing, events: () => {} })).rejects.toThrow("is applying");
    expect(calls()).toEqual(["apply"]);
  });
});
