// SPDX-License-Identifier: Apache-2.0
import { documentKinds } from "../talos/config/schema/kinds.ts";
import {
  contractFeatures,
  defaultChanges,
  defaultRelease,
  knownRange,
  newestRelease,
  releaseFeatures,
  releases,
  type Span,
} from "../talos/version/releases.ts";

/** docs/versions.md, from what is known about releases. */
export function versionsPage(): string {
  const unknown = `1.${newestRelease.minor + 1}`;
  return `# Supported versions

<!-- Written by \`npm run generate:versions\` from talos/version/releases.ts; do not edit. -->

talosmith knows Talos ${knownRange}. New clusters get ${defaultRelease} unless a version is set. The facts are read from Talos's own Go
modules (\`npm run refresh:releases\` in a checkout).

${table(
  ["Talos", "first release", "newest known", "Kubernetes", "default Kubernetes", "upgrades from", "config contracts"],
  [...releases]
    .reverse()
    .map((release) => [
      `1.${release.minor}`,
      release.released,
      release.newest,
      `1.${release.oldestKubernetesMinor} to 1.${release.newestKubernetesMinor}`,
      release.defaultKubernetes,
      `1.${release.upgradableFromMinor}`,
      release.oldestContractMinor === release.minor
        ? `v1.${release.minor}`
        : `v1.${release.oldestContractMinor} to v1.${release.minor}`,
    ]),
)}

- A newer patch release of a known minor works as it is: set it.
- A newer minor release, such as ${unknown}, works with a warning. Its configs are written for the contract v1.${newestRelease.minor}, Kubernetes above
  1.${newestRelease.newestKubernetesMinor} is not checked, and it can be upgraded to from 1.${newestRelease.minor}.
- Releases before 1.${releases[0].minor} are refused. Upgrade them with talosctl first.

## Which version to write

Environment files, constructs and the provider take exact versions only: \`talosVersion: ${newestRelease.newest}\`, not \`1.${newestRelease.minor}\`. The commands
\`init\` (\`--talos-version\`, \`--kubernetes-version\`) and \`upgrade\` (\`--to\`) also take \`1.${newestRelease.minor}\` and \`latest\`, and write the exact version into the
file. For Kubernetes, \`latest\` is the newest version known that the cluster's Talos release runs.

## Config contracts

The contract is the Talos minor release that a machine config is written for. A release accepts the contracts of older ones: an
upgrade of Talos changes nothing in a config by itself. Contracts differ in this:

${spans(contractFeatures)}

Releases differ in this, whatever contract their configs have:

${spans(releaseFeatures)}

## Defaults that changed for new clusters

A config of a newer contract switches these on. A cluster that was upgraded and keeps its contract does not have them.

${table(
  ["contract", "document", "setting", "what it does", "what it can break"],
  defaultChanges.map((change) => [
    `v1.${change.minor}`,
    `\`${change.document}\``,
    `\`${change.setting}\``,
    change.effect,
    change.risk,
  ]),
)}

## Documents

No release removed a kind of document. Added:

${releases
  .flatMap(({ minor }) => {
    const kinds = Object.entries(documentKinds).flatMap(([kind, [, since]]) =>
      since === minor ? [`\`${kind}\``] : [],
    );
    return kinds.length === 0
      ? []
      : [`- **1.${minor}${minor === releases[0].minor ? " or before" : ""}**: ${kinds.join(", ")}`];
  })
  .join("\n")}

## Images

Images that follow the Talos release:

${table(
  ["Talos", "etcd", "CoreDNS", "Flannel", "pause", "network policies"],
  [...releases]
    .reverse()
    .map(({ newest, etcd, coredns, flannel, pause, networkPolicies }) => [
      newest,
      ...[etcd, coredns, flannel, pause, networkPolicies].map((image) =>
        image === undefined ? "none" : `\`${image}\``,
      ),
    ]),
)}
`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function spans(features: Readonly<Record<string, Span>>): string {
  const rows = Object.values(features).map(({ from, to, means }) => [
    means,
    from === undefined ? `up to 1.${to}` : `from 1.${from} on`,
  ]);
  return table(["what", "where"], rows);
}
