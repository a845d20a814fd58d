// SPDX-License-Identifier: Apache-2.0
import { type Backend, passphraseVariable } from "../model/index.ts";

/** Only OpenTofu reads files of this name, and only OpenTofu can encrypt. */
export const encryptionFileName = "encryption.tofu";

/** The text that makes OpenTofu encrypt state and plan files, where the environment asks for it. */
export function encryptionFile({ encryption }: Backend): string | undefined {
  if (encryption === undefined) return undefined;
  return `variable "state_passphrase" {
  description = "At least 16 characters, given in ${passphraseVariable}"
  type        = string
  sensitive   = true
}

terraform {
  encryption {
    key_provider "pbkdf2" "passphrase" {
      passphrase = var.state_passphrase
    }
    method "aes_gcm" "passphrase" {
      keys = key_provider.pbkdf2.passphrase
    }
    state {
      method = method.aes_gcm.passphrase
    }
    plan {
      method = method.aes_gcm.passphrase
    }
  }
}
`;
}
