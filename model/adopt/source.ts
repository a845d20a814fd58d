// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { dataAt } from "../../talos/yaml/index.ts";

/** A file by the name that messages use. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** What another tool's files tell of a cluster. The configs themselves are read from the machines. */
export interface AdoptSource {
  /** Absent when the files hold none: then they have to be given. */
  readonly secrets?: SecretsBundle;
  /** At least one; others are found through it. */
  readonly addresses: readonly string[];
  /** Sections of the environment that machines know nothing of, in the words of the file. */
  readonly sections: { readonly addons?: readonly object[]; readonly backup?: object };
  /** What a person should know: what was left out, and why. */
  readonly notes: readonly string[];
}

/** Something of another tool that we have no equivalent for. */
export function refuse(file: string, path: string, reason: string, hint?: string): TalosError {
  return new TalosError("invalid-input", `${file}: ${path}: ${reason}`, { hint });
}

/** Text at a path; undefined when there is none. */
export function textAt(data: unknown, ...path: readonly string[]): string | undefined {
  const found = dataAt(data, path);
  return typeof found === "string" && found !== "" ? found : undefined;
}
