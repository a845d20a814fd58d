// SPDX-License-Identifier: Apache-2.0
// Every operation, stopped (SIGINT) or killed (SIGKILL) after every entry of its journal: one rerun must be enough.
import { describe, expect, test } from "vitest";
import { defaultPolicy, observe, plan } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { killingPort } from "./killing-port.ts";
import { journal, operations, outcome, type Prepared, snapshotFile } from "./operations.ts";

/** A rerun may have to wait for a reboot that the first run has ordered; never for what is so already. */
const patience = 60_000;

/** Interrupts a run after so many entries, and runs it once more. False when it had nothing left to do after that entry. */
async function interrupted({ lab, run }: Prepared, signal: "SIGINT" | "SIGKILL", after: number): Promise<boolean> {
  const stop = new AbortController();
  const first = killingPort(lab.world.port());
  const kept = journal((count) => {
    if (count !== after) return;
    if (signal === "SIGKILL") first.kill();
    else stop.abort();
  });
  const options = { timing: lab.timing, journal: kept };
  const ended = await run({ ...options, machines: first.port, signal: stop.signal }).then(
    () => "done",
    (error: unknown) => (error instanceof TalosError ? error.code : error),
  );
  if (ended === "done") return false;
  expect(ended).toBe(signal === "SIGINT" ? "canceled" : "internal");
  await run({ ...options, machines: lab.world.port() });
  return true;
}

describe.each(operations(snapshotFile()))("$name, $path, interrupted", ({ prepare }) => {
  test.each(["SIGINT", "SIGKILL"] as const)("by %s anywhere, needs one rerun", async (signal) => {
    const whole = await prepare();
    const written = journal();
    const begun = whole.lab.timing.elapsed();
    await whole.run({ machines: whole.lab.world.port(), timing: whole.lab.timing, journal: written });
    const usual = whole.lab.timing.elapsed() - begun;
    const expected = outcome(whole.lab);
    expect(expected.violations).toEqual([]);
    expect(written.list.length).toBeGreaterThanOrEqual(3);
    for (let after = 1; after <= written.list.length; after++) {
      const prepared = await prepare();
      const { lab, desired } = prepared;
      const before = lab.timing.elapsed();
      const where = `${signal} after entry ${after}, ${JSON.stringify(written.list[after - 1])}`;
      const rerun = await interrupted(prepared, signal, after).catch((error: unknown) => {
        throw new Error(`${where}: ${error}`, { cause: error });
      });
      // Without a rerun nobody has taken over what a killed run had of the cluster's lock.
      expect({ ...outcome(lab), ...(rerun ? {} : { lease: undefined }) }, where).toEqual(expected);
      expect(lab.timing.elapsed() - before, where).toBeLessThan(usual + patience);
      if (desired === undefined) continue;
      const observed = await observe(desired, { machines: lab.world.port() });
      expect(plan(desired, observed, defaultPolicy), where).toEqual([]);
    }
  });
});
