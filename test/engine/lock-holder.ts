// SPDX-License-Identifier: Apache-2.0
// A process that takes a lock, says so and keeps it until it is killed: lock-holder.ts <lock>
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../engine/lock/lock.ts";

await withLock(process.argv[2] ?? "", { what: "hold it" }, async () => {
  process.stdout.write("held");
  await sleep(2 ** 30);
});
