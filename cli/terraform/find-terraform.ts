// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { passphraseVariable } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The terraform or tofu to use, or undefined when neither is on the PATH. TERRAFORM_BINARY_NAME decides where it is set,
 * as it does for the CDK's own command. Where the state is encrypted, only tofu will do.
 */
export function findTerraform(
  env: Environment,
  { encryption }: { readonly encryption?: string | undefined } = {},
): string | undefined {
  const found = findAny(env, encryption === undefined ? ["terraform", "tofu"] : ["tofu", "terraform"]);
  if (found === undefined || encryption === undefined) return found;
  if (!basename(found).includes("tofu"))
    throw new TalosError("failed-precondition", `the state is encrypted by OpenTofu, which ${found} can't read`, {
      hint: "Put tofu on the PATH, or set TERRAFORM_BINARY_NAME to it.",
    });
  if (!env[passphraseVariable])
    throw new TalosError("failed-precondition", `the state is encrypted, and ${passphraseVariable} is not set`, {
      hint: "Set it to the passphrase, of at least 16 characters.",
    });
  return found;
}

function findAny(env: Environment, names: readonly string[]): string | undefined {
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
  return names.map((name) => onPath(name, env)).find((path) => path !== undefined);
}

export function onPath(name: string, env: Environment): string | undefined {
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
