// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { etcdSource, openStore } from "../../../talos/backup/index.ts";
import { take } from "./take.ts";

/** A process that takes one backup over the real API into a store, and tells how much memory that took at most. */
const { endpoint, credentials, target } = JSON.parse(readFileSync(0, "utf8"));
const store = await openStore(target, "");
const backup = await take(store, etcdSource([endpoint], credentials));
process.stdout.write(JSON.stringify({ backup, megabytes: process.resourceUsage().maxRSS / 1024 }));
process.exit(0);
