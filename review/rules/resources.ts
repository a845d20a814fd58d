// SPDX-License-Identifier: Apache-2.0
import { clusterChanges, goingMachines } from "../cluster-change.ts";
import { type HardwareChange, hardwareChanges } from "../hardware.ts";
import { type Change, changedAttributes, type Finding, type Plan, type Rule, type Values } from "../plan.ts";
import { machineTypes, memberOn } from "./machines.ts";

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

export const clientFilesType = "talosmith_client_files";
/** Machines that go away without their cluster's knowing: nobody takes them out of etcd first. */
export const machineRule: Rule = (plan) => {
  const told = toldByClusters(plan);
  const stopped = hardwareChanges(plan);
  const rolled = new Set(stopped.flatMap(({ addresses }) => addresses));
  const findings = plan.changes
    .filter(({ type, action }) => machineTypes.has(type) && (action === "replace" || action === "delete"))
    .filter((change) => !told.has(memberOn(plan, change) ?? "") && !rolled.has(change.address))
    .map(({ address, action }): Finding => {
      const what = action === "replace" ? "replaced" : "destroyed";
      const sentence = `The machine is ${what}, and no cluster in this plan lets it leave first.`;
      return { level: "danger", title: `Machine ${what}`, address, sentence };
    });
  return [...findings, ...stoppedFindings(stopped)];
};

/** What happens by `terraform apply` alone is said, because a plan may be applied without talosmith. */
function stoppedFindings(stopped: readonly HardwareChange[]): readonly Finding[] {
  const [first] = stopped;
  if (first === undefined) return [];
  const names = stopped.map(({ name }) => name).join(", ");
  const sentence = `${names} ${stopped.length === 1 ? "is" : "are"} stopped to change the hardware; disks are kept. talosmith deploy drains and changes one batch at a time. terraform apply does not drain, and the provider refuses more than one control plane or max_unavailable workers at once.`;
  return [{ level: "caution", title: "Machines stopped", address: first.addresses[0] ?? "", sentence }];
}

/** The image and the config of running machines are the engine's to change; all else of a template is for new machines. */
const followed = new Set(["image_id", "user_data", "latest_version", "default_version", "tags", "tags_all"]);

/** Machines of an auto scaling group that stay as they were started. */
export const templateRule: Rule = ({ changes }) =>
  changes.flatMap((change): Finding[] => {
    if (change.type !== "aws_launch_template" || change.action !== "update") return [];
    const kept = changedAttributes(change).filter((name) => !followed.has(name));
    if (kept.length === 0) return [];
    const sentence = `Machines of ${String(change.before?.name)} that run keep their ${kept.join(", ")}; only new ones get the change. To replace one: kubectl drain it, then aws autoscaling terminate-instance-in-auto-scaling-group --no-should-decrement-desired-capacity --instance-id <node>.`;
    return [{ level: "caution", title: "Running machines keep the old template", address: change.address, sentence }];
  });

function toldByClusters(plan: Plan): ReadonlySet<string> {
  return new Set(
    clusterChanges(plan).flatMap((cluster) => {
      const { leaving, replaced } = goingMachines(cluster);
      return [...leaving, ...replaced].map(({ name }) => name);
    }),
  );
}

/** Networks (RFC 5737, RFC 3849) and domains (RFC 2606) that stand in examples and belong to nobody. */
const patterns: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![\d.])(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}(?:\/\d{1,2})?(?![\d.])/g, "a network of examples"],
  [/(?<![\w:])2001:db8:[\da-f:]*(?:\/\d{1,3})?/gi, "a network of examples"],
  [/(?<![\w-])example\.(?:com|net|org)(?![\w-])/gi, "a domain of examples"],
];

const placeholderTitle = "Placeholder";

/** What was copied from an example and never replaced: it is nobody's, so nobody gets in, or no name is found. */
export const placeholderRule: Rule = ({ changes }) => {
  const found = new Map<string, { readonly what: string; readonly addresses: Set<string> }>();
  for (const { address, after } of changes) {
    for (const text of textsIn(after)) {
      for (const [pattern, what] of patterns) {
        for (const [match] of text.matchAll(pattern)) {
          const known = found.get(match) ?? { what, addresses: new Set() };
          found.set(match, { what, addresses: known.addresses.add(address) });
        }
      }
    }
  }
  return [...found].map(([match, { what, addresses }]) => {
    const [first = "", ...others] = addresses;
    const more = others.length === 0 ? "" : `, here and in ${others.length} more,`;
    return {
      level: "caution",
      title: placeholderTitle,
      address: first,
      sentence: `${match}${more} is ${what} and belongs to nobody: put your own in its place, in the environment's file or its base.`,
    };
  });
};

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* textsIn(inner);
  }
}
