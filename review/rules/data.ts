// SPDX-License-Identifier: Apache-2.0
import type { Finding, Rule } from "../finding.ts";
import type { Change } from "../plan.ts";

/** What holds data that nothing in the configuration can make again, and what that data is. */
const holders: Readonly<Record<string, string>> = {
  aws_s3_bucket: "the objects in the bucket, etcd snapshots among them",
  aws_ebs_volume: "the data on the volume",
  aws_kms_key: "everything that is encrypted with the key",
  aws_route53_zone: "the zone's records and its name servers",
  docker_volume: "the data in the volume",
  kubernetes_persistent_volume_claim_v1: "the data on the volume",
  libvirt_volume: "the data on the disk",
  libvirt_pool: "every disk in the pool",
  talosmith_secrets: "the cluster's CAs and tokens: without them nobody can manage its machines",
};

/** Resources whose end takes data with it. */
export const dataRule: Rule = (plan) =>
  plan.changes.flatMap((change): Finding[] => {
    const lost = holders[change.type];
    if (lost === undefined || !isGone(change) || isBootMedium(change)) return [];
    return [{ level: "danger", title: "Data lost", address: change.address, sentence: `This takes with it ${lost}.` }];
  });

const isGone = ({ action }: Change) => action === "delete" || action === "replace";

/** ISOs are written anew from the configuration. */
function isBootMedium({ type, before }: Change): boolean {
  return type === "libvirt_volume" && typeof before?.name === "string" && before.name.endsWith(".iso");
}

/** Switches that keep a resource or its data from being destroyed, with the value that protects. */
const switches: readonly (readonly [attribute: string, protecting: boolean])[] = [
  ["enable_deletion_protection", true],
  ["deletion_protection", true],
  ["disable_api_termination", true],
  ["force_destroy", false],
];

/** Protection that is taken away: the plan after this one can destroy. */
export const protectionRule: Rule = (plan) =>
  plan.changes.flatMap(({ action, address, before, after }): Finding[] =>
    action !== "update"
      ? []
      : switches
          .filter(([name, protecting]) => before?.[name] === protecting && after?.[name] === !protecting)
          .map(([name, protecting]) => ({
            level: "caution",
            title: "Protection removed",
            address,
            sentence: `${name} goes from ${protecting} to ${!protecting}.`,
          })),
  );
