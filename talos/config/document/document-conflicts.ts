// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import type { ConfigRules } from "../rules.ts";
import { type Section, textAt } from "./value.ts";

interface Titled {
  readonly kind: string;
  readonly section: Section;
}

const links = [
  "BondConfig",
  "BridgeConfig",
  "DummyLinkConfig",
  "LinkConfig",
  "VLANConfig",
  "VRFConfig",
  "VethConfig",
  "WireguardConfig",
];

/** Kinds of which only one may have a name. */
const exclusive: readonly (readonly string[])[] = [
  links,
  ["HCloudVIPConfig", "Layer2VIPConfig"],
  ["ExistingVolumeConfig", "UserVolumeConfig"],
];

/** Throws, in the words of Talos, when two documents are about the same link, address or volume. */
export function requireNoConflict(documents: readonly Titled[], rules: ConfigRules): void {
  const message = conflictingNames(documents) ?? (rules.linksOfPeers ? conflictingLinks(documents) : undefined);
  if (message === undefined) return;
  throw new TalosError("invalid-input", message, { hint: "Remove one of the two documents." });
}

function conflictingNames(documents: readonly Titled[]): string | undefined {
  for (const [index, document] of documents.entries()) {
    const group = exclusive.find((kinds) => kinds.includes(document.kind));
    const other = documents
      .slice(0, index)
      .find(
        ({ kind, section }) =>
          kind !== document.kind && group?.includes(kind) && nameOf(section) === nameOf(document.section),
      );
    if (other !== undefined) return `conflicting documents: ${idOf(other)} and ${idOf(document)}`;
  }
  return undefined;
}

/** The other end of a pair is a link, too. */
function conflictingLinks(documents: readonly Titled[]): string | undefined {
  const owners = new Map<string, Titled>();
  for (const document of documents.filter(({ kind }) => links.includes(kind))) {
    const peer = document.kind === "VethConfig" ? [textAt(document.section, "peer.name")] : [];
    for (const name of [nameOf(document.section), ...peer]) {
      const owner = owners.get(name);
      if (owner !== undefined) {
        const both = `${idOf(owner)} and ${idOf(document)} both configure ${JSON.stringify(name)}`;
        return `conflicting link configurations: ${both}`;
      }
      owners.set(name, document);
    }
  }
  return undefined;
}

function nameOf(section: Section): string {
  return textAt(section, "name");
}

function idOf({ kind, section }: Titled): string {
  return `${kind}/${nameOf(section)}`;
}
