// SPDX-License-Identifier: Apache-2.0
import { basename, isAbsolute, relative } from "node:path";
import { exampleCommands } from "./help-examples.ts";

/** What this process was started with. */
export interface Start {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The file that Node was told to run, as Node knows it. */
  readonly script: string | undefined;
}

/** How a person has to type our name to get the same program again. */
export function typedName({ env, cwd, script = "" }: Start): string {
  // By npx, or by a script of package.json: npx finds it for both.
  if (env.npm_command !== undefined) return "npx talosmith";
  if (basename(script) !== "talosmith.js") return "talosmith";
  const path = relative(cwd, script);
  return `node ${path.startsWith("..") || isAbsolute(path) ? script : path}`;
}

/** Commands of ours in a text for people, as this person has to type them. */
export function asTyped(text: string, name: string): string {
  return name === "talosmith" ? text : text.replaceAll(command, () => `${name} `);
}

// "the talosmith provider" is a thing more often than a command.
const words = exampleCommands().filter((word) => word !== "provider");
const command = new RegExp(`(?<![\\w./@-])(?<!npx )talosmith (?=(?:${words.join("|")})(?![\\w-]))`, "g");
