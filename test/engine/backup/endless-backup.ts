// SPDX-License-Identifier: Apache-2.0
import { directoryStore } from "../../../engine/backup/index.ts";
import { realSnapshot, sourceOf } from "../../support/etcd-snapshot.ts";
import { take } from "./take.ts";

/** A backup whose snapshot stops in the middle and never goes on: to be killed. */
const waiting = sourceOf(realSnapshot, async (offset) => {
  if (offset < 300_000) return;
  process.stdout.write("half\n");
  await new Promise((done) => setTimeout(done, 60_000));
});
await take(directoryStore(process.argv[2] ?? ""), waiting);
