// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileError } from "../../talos/file-error.ts";
import type { Environment } from "./environment.ts";
import { type ParseOptions, parseEnvironment } from "./parse-environment.ts";
import { type ReadFile, withTexts } from "./references.ts";

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR";
}

/** The files of a project, by their path from its root. */
export function fileReader(projectRoot: string): ReadFile {
  const read = (file: string) => {
    try {
      return readFileSync(join(projectRoot, file), "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw fileError("open", file, error);
    }
  };
  return Object.assign(read, { environments: () => listEnvironments(projectRoot), env: process.env });
}

/**
 * Reads environments/<name>.yaml over environments/base.yaml. Throws EnvironmentError with all faults at once.
 * `changed` has texts, by path from the root, that count instead of what the disk has: files as they will be.
 */
export function loadEnvironment(
  projectRoot: string,
  name: string,
  changed: ReadonlyMap<string, string> = new Map(),
  options: ParseOptions = {},
): Environment {
  return parseEnvironment(name, withTexts(fileReader(projectRoot), changed), options);
}

/** The same to observe or destroy a cluster: a file that breaks a rule is only warned about. */
export function loadExistingEnvironment(projectRoot: string, name: string): Environment {
  return loadEnvironment(projectRoot, name, new Map(), { existing: true });
}

/** The names of the environments of a project, sorted. */
export function listEnvironments(projectRoot: string): readonly string[] {
  let files: string[];
  try {
    files = readdirSync(join(projectRoot, "environments"));
  } catch (error) {
    if (isMissing(error)) return [];
    throw fileError("open", "environments", error);
  }
  return files
    .filter((file) => file.endsWith(".yaml") && file !== "base.yaml")
    .map((file) => file.slice(0, -".yaml".length))
    .sort();
}
