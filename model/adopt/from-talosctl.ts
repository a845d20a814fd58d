// SPDX-License-Identifier: Apache-2.0
import { parseTalosconfig, secretsFromConfig } from "../../talos/config/index.ts";
import { given } from "../../talos/given.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import type { AdoptSource, SourceFile } from "./source.ts";

/** The files of `talosctl gen config` and `gen secrets`, as far as they are there. */
export interface TalosctlFiles {
  readonly secrets?: SourceFile;
  readonly controlPlane?: SourceFile;
  readonly talosconfig?: SourceFile;
}

/** Secrets from the bundle, or else out of the control plane's config; addresses from the talosconfig. */
export function fromTalosctl(files: TalosctlFiles): AdoptSource {
  const secrets = secretsOf(files);
  return {
    ...given({ secrets }),
    addresses: files.talosconfig === undefined ? [] : addressesOf(files.talosconfig),
    sections: {},
    notes: [],
  };
}

function secretsOf({ secrets, controlPlane }: TalosctlFiles): SecretsBundle | undefined {
  if (secrets !== undefined) return parseSecrets(secrets.text, secrets.name);
  return controlPlane === undefined ? undefined : secretsFromConfig(controlPlane.text, controlPlane.name);
}

function addressesOf({ name, text }: SourceFile): readonly string[] {
  const { context, contexts } = parseTalosconfig(text, name);
  const current = contexts.get(context);
  return [...new Set([...(current?.nodes ?? []), ...(current?.endpoints ?? [])])];
}
