// SPDX-License-Identifier: Apache-2.0
// A process that takes a lock again and again and is often alone with a dead one's: lock-process.ts <lock> <marker> <milliseconds>
import { closeSync, openSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../engine/lock/lock.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";

const [lock = "", marker = "", milliseconds = "0"] = process.argv.slice(2);
const end = performance.now() + Number(milliseconds);
let held = 0;

while (performance.now() < end) {
  // As if a process had taken it and died.
  const dead = { pid: 2 ** 22 - 1, boot: "another", started: "1", since: new Date().toISOString() };
  await writeFileAtomically(lock, JSON.stringify(dead), { exclusive: true }).catch(() => undefined);
  try {
    await withLock(lock, { what: "test" }, async () => {
      // Whoever is not alone finds the other's marker.
      closeSync(openSync(marker, "wx"));
      await sleep(1);
      rmSync(marker);
      held++;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "conflict") throw error;
  }
}
process.stdout.write(String(held));
