// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { etcdSource, openStore } from "../../../engine/backup/index.ts";
import { peakMegabytes } from "../../../scripts/bench/peak-memory.ts";
import { take } from "./take.ts";

/** A process that takes one backup over the real API into a store, and tells how much memory that took at most. */
const { endpoint, credentials, target } = JSON.parse(readFileSync(0, "utf8"));
const store = await openStore(target, "");
const backup = await take(store, etcdSource([endpoint], credentials));
process.stdout.write(JSON.stringify({ backup, megabytes: peakMegabytes() }));
process.exit(0);
