// SPDX-License-Identifier: Apache-2.0
// Finer than interruption.test.ts: killed before and after every single call that changes the world.
import { describe, expect, test } from "vitest";
import { killingPort } from "./killing-port.ts";
import { journal, operations, outcome, snapshotFile } from "./operations.ts";

describe.each(operations(snapshotFile()))("killed during $name, $path", ({ prepare }) => {
  test("and run again, it ends as if nothing had happened, wherever the kill came", async () => {
    const undisturbed = await prepare();
    const { timing } = undisturbed.lab;
    const whole = killingPort(undisturbed.lab.world.port());
    await undisturbed.run({ machines: whole.port, timing });
    const expected = outcome(undisturbed.lab);
    expect(expected.violations).toEqual([]);
    expect(whole.begun.length).toBeGreaterThanOrEqual(3);

    for (let deed = 0; deed < whole.begun.length; deed++) {
      for (const when of ["before", "after"] as const) {
        const { lab, run } = await prepare();
        const first = killingPort(lab.world.port(), { deed, when });
        const options = { timing: lab.timing, journal: journal() };
        await expect(run({ ...options, machines: first.port })).rejects.toThrow("killed");
        expect(first.killed()).toBe(true);
        await run({ ...options, machines: lab.world.port() });
        expect(outcome(lab), `killed ${when} ${first.begun.at(-1)}`).toEqual(expected);
      }
    }
  });
});
