// SPDX-License-Identifier: Apache-2.0
import type { Finding, Rule } from "../finding.ts";
import type { Change, Values } from "../plan.ts";

const worlds = new Set(["0.0.0.0/0", "::/0"]);

const portNames: Readonly<Record<number, string>> = {
  2379: "etcd",
  2380: "etcd",
  6443: "the Kubernetes API",
  10250: "the kubelet",
  50000: "the Talos API",
  50001: "trustd",
};

/** Ports and buckets that anyone on the internet can reach after this plan and could not before. */
export const exposureRule: Rule = ({ changes }) => {
  const gone = new Set(
    changes
      .filter(({ type, action }) => type === "aws_s3_bucket" && action === "delete")
      .flatMap(({ before }) => before?.id ?? []),
  );
  return changes.flatMap((change) => [...openPorts(change), ...openBucket(change, gone)]);
};

function openPorts(change: Change): Finding[] {
  const before = new Set(worldPorts(change.type, change.before));
  return worldPorts(change.type, change.after)
    .filter((port) => !before.has(port))
    .map((port) => ({
      level: "danger",
      title: "Port opened to the world",
      address: change.address,
      sentence: `Anyone on the internet may connect to ${port}.`,
    }));
}

/** The ports, in words, that a rule or group opens to everyone. */
function worldPorts(type: string, values: Values | null): readonly string[] {
  if (values === null) return [];
  switch (type) {
    case "aws_vpc_security_group_ingress_rule":
      return isWorld(values.cidr_ipv4, values.cidr_ipv6) ? [portsInWords(values)] : [];
    case "aws_security_group_rule":
      return values.type === "ingress" && isWorld(values.cidr_blocks, values.ipv6_cidr_blocks)
        ? [portsInWords(values)]
        : [];
    case "aws_security_group":
    case "aws_default_security_group":
      return listOfValues(values.ingress)
        .filter((rule) => isWorld(rule.cidr_blocks, rule.ipv6_cidr_blocks))
        .map(portsInWords);
    default:
      return [];
  }
}

function isWorld(...ranges: readonly unknown[]): boolean {
  return ranges.flat().some((range) => typeof range === "string" && worlds.has(range));
}

function portsInWords({ from_port: from, to_port: to }: Values): string {
  if (typeof from !== "number" || from < 0 || (from === 0 && to === 0)) return "every port";
  const known = portNames[from];
  if (to === from) return known === undefined ? `port ${from}` : `port ${from}, ${known}`;
  const inside = Object.keys(portNames).filter((port) => Number(port) >= from && Number(port) <= Number(to));
  return `ports ${from} to ${String(to)}${inside.length > 0 ? `, ${inside.join(", ")} among them` : ""}`;
}

const blocks = ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"];

function openBucket({ type, address, action, before, after }: Change, gone: ReadonlySet<unknown>): Finding[] {
  if (type !== "aws_s3_bucket_public_access_block") return [];
  const open = (action === "delete" && !gone.has(before?.bucket)) || blocks.some((block) => after?.[block] === false);
  if (!open) return [];
  const sentence = "The bucket may become readable by anyone: its public access block is lifted.";
  return [{ level: "danger", title: "Bucket opened to the world", address, sentence }];
}

function listOfValues(value: unknown): readonly Values[] {
  return Array.isArray(value) ? value.filter((item): item is Values => typeof item === "object" && item !== null) : [];
}
