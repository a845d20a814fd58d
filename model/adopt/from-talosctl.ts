// SPDX-License-Identifier: Apache-2.0
import { parseTalosconfig, secretsFromConfig } from "../../talos/config/index.ts";
import { given } from "../../talos/given.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { isData, parseYamlDocument, toPlainData } from "../../talos/yaml/index.ts";
import { type AdoptSource, refuse, type SourceFile, textAt } from "./source.ts";

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

/**
 * The nodes of a talconfig.yaml. What it says beyond their addresses is in the machines' configs, patches included; the
 * secrets are in a file of their own, talsecret.yaml, in talosctl's form.
 */
export function fromTalhelper({ name, text }: SourceFile): AdoptSource {
  const data = toPlainData(parseYamlDocument(text, name));
  const nodes = isData(data) && Array.isArray(data.nodes) ? data.nodes : undefined;
  if (nodes === undefined || nodes.length === 0) throw refuse(name, "nodes", "found no list of nodes");
  const addresses = nodes.map((node, index) => {
    const given = textAt(node, "ipAddress");
    if (given === undefined) throw refuse(name, `nodes[${index}].ipAddress`, "found no address");
    if (given.includes("$"))
      throw refuse(
        name,
        `nodes[${index}].ipAddress`,
        `found ${JSON.stringify(given)}, which talhelper fills in`,
        "Write the address itself, or name the machines with --nodes.",
      );
    return given.split(",")[0]?.trim() ?? given;
  });
  return { addresses, sections: {}, notes: [] };
}
