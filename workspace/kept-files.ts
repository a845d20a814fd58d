// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Environment } from "../model/index.ts";
import { clientFiles } from "./client-files.ts";
import { secretsFile } from "./secrets.ts";

/** What the end of a cluster leaves on purpose, in one line for people; empty when that is nothing. */
export function whatStays(root: string, environment: Environment): string {
  const { name, backup } = environment;
  const folder = join("generated", name);
  const found = [
    ["its secrets, which the next deploy takes again", relative(root, secretsFile(root, environment))],
    ["the journal of what was done", join(folder, "journal.jsonl")],
    ["its conditions", join(folder, "conditions.json")],
    ...Object.values(clientFiles(name)).map((file) => ["a client file", file] as const),
    ...(backup?.directory === undefined ? [] : [["its backups", backup.directory] as const]),
  ].filter(([, path = ""]) => existsSync(isAbsolute(path) ? path : join(root, path)));
  const places = [
    ...found.map(([what, path]) => `${path} (${what})`),
    ...(backup?.s3 === undefined ? [] : [`s3://${backup.s3.bucket} (its backups)`]),
  ];
  return places.length === 0 ? "" : `What stays: ${places.join(", ")}.\n`;
}
