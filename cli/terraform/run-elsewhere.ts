// SPDX-License-Identifier: Apache-2.0
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseEvent } from "../../talos/cluster/index.ts";
import type { RunElsewhere } from "../../web/server/index.ts";
import { applyingRun } from "./plan-file.ts";

/** What `talosmith deploy` or `destroy` does through Terraform in this stack's folder now, whoever has started it. */
export async function runElsewhere(directory: string): Promise<RunElsewhere | undefined> {
  const found = await applyingRun(directory);
  if (found === undefined) return undefined;
  const file = join(directory, found.events);
  try {
    const [text, { birthtime }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
    const events = text.split("\n").flatMap((line) => parseEvent(line) ?? []);
    return { id: `terraform-${found.run}`, startedAt: birthtime, events };
  } catch {
    return undefined; // It has ended meanwhile, and taken its file away.
  }
}
