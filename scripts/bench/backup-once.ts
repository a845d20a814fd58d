// SPDX-License-Identifier: Apache-2.0
// One backup of a large snapshot to a folder or to S3, in a process of its own; prints the most memory it took, in MB.
import { createBackup, openStore } from "../../engine/backup/index.ts";
import { systemTiming } from "../../engine/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { largeSnapshot } from "./large-snapshot.ts";
import { peakMegabytes } from "./peak-memory.ts";

const [, , size = "", target = ""] = process.argv;
const place = target.startsWith("http") ? { s3: { bucket: "bench", endpoint: target } } : { directory: target };
await createBackup({
  cluster: "bench",
  caFingerprint: "",
  source: { take: (use) => use("127.0.0.1", largeSnapshot(Number(size))) },
  store: await openStore(place, "/"),
  clock: systemClock,
  entropy: systemEntropy,
  timing: systemTiming,
});
process.stdout.write(String(Math.round(peakMegabytes())));
