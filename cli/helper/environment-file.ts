// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import {
  type Environment,
  type Fault,
  type FirstEnvironment,
  firstEnvironment,
  parseEnvironment,
} from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";

const mode = 0o644;

/** Writes environments/<name>.yaml. Never replaces a file. */
export async function writeFirstEnvironment(
  root: string,
  name: string,
  answers: FirstEnvironment,
): Promise<{ readonly file: string; readonly warnings: readonly Fault[] }> {
  const isCheckout = existsSync(join(root, "schemas/environment.schema.json"));
  const text = firstEnvironment(answers, isCheckout ? "checkout" : "project");
  const file = `environments/${name}.yaml`;
  const { warnings } = parseEnvironment(name, (path) => (path === file ? text : undefined));
  try {
    await writeFileAtomically(join(root, file), text, { mode, exclusive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new TalosError("already-exists", `${file} is there already`, { hint: "Change it, or choose another name." });
  }
  return { file, warnings };
}

/** An environment as it would be with another text in its own file, and the way to keep it. */
export interface EditedEnvironment {
  readonly environment: Environment;
  save(): Promise<void>;
}

/** Checks the new text together with everything that it refers to; nothing is written before `save`. */
export function editEnvironment(
  root: string,
  { name, file }: Environment,
  edit: (text: string) => string,
): EditedEnvironment {
  const before = readFileSync(join(root, file), "utf8");
  const text = edit(before);
  const environment = parseEnvironment(name, (path) => (path === file ? text : readIfThere(join(root, path))));
  return {
    environment,
    async save() {
      if (text !== before) await writeFileAtomically(join(root, file), text, { mode });
    },
  };
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
