// SPDX-License-Identifier: Apache-2.0
import { basename } from "node:path";
import { passphraseVariable } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { programPath } from "../../talos/program-path.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The terraform or tofu to use, or undefined when neither is on the PATH. TERRAFORM_BINARY_NAME decides where it is set,
 * as it does for the CDK's own command. Where the state is encrypted, only tofu will do.
 */
export function findTerraform(
  env: Environment,
  { encryption }: { readonly encryption?: string | undefined } = {},
): string | undefined {
  const found = findAny(env, programs(encryption));
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

/** What that program is called, also where it is not installed. */
export function terraformName(env: Environment, { encryption }: { readonly encryption?: string | undefined }): string {
  const installed = programs(encryption).find((name) => programPath(name, env.PATH) !== undefined);
  return basename(env.TERRAFORM_BINARY_NAME || (installed ?? "terraform"));
}

/** In the order in which they are tried. Only OpenTofu opens an encrypted state. */
function programs(encryption: string | undefined): readonly string[] {
  return encryption === undefined ? ["terraform", "tofu"] : ["tofu", "terraform"];
}

function findAny(env: Environment, names: readonly string[]): string | undefined {
  const asked = env.TERRAFORM_BINARY_NAME;
  if (asked) {
    const found = programPath(asked, env.PATH);
    if (found === undefined) {
      throw new TalosError(
        "not-found",
        `TERRAFORM_BINARY_NAME is "${asked}", but there is no such program on the PATH`,
        { hint: "Unset it, or set it to terraform, tofu or an absolute path." },
      );
    }
    return found;
  }
  return names.map((name) => programPath(name, env.PATH)).find((path) => path !== undefined);
}
