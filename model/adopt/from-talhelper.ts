// SPDX-License-Identifier: Apache-2.0
import { parseYamlDocument, toPlainData } from "../../talos/yaml/index.ts";
import { type AdoptSource, isData, refuse, type SourceFile, textAt } from "./source.ts";

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
