// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { TalosError } from "../../talos/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The terraform or tofu to use, or undefined when neither is on the PATH. TERRAFORM_BINARY_NAME decides where it is set,
 * as it does for the CDK's own command.
 */
export function findTerraform(env: Environment): string | undefined {
  const asked = env.TERRAFORM_BINARY_NAME;
  if (asked) {
    const found = isAbsolute(asked) ? asked : onPath(asked, env);
    if (found === undefined || !isExecutable(found)) {
      throw new TalosError(
        "not-found",
        `TERRAFORM_BINARY_NAME is "${asked}", but there is no such program on the PATH`,
        {
          hint: "Unset it, or set it to terraform, tofu or an absolute path.",
        },
      );
    }
    return found;
  }
  return onPath("terraform", env) ?? onPath("tofu", env);
}

function onPath(name: string, env: Environment): string | undefined {
  return (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
