// SPDX-License-Identifier: Apache-2.0
import type {
  DesiredCluster,
  DesiredMachine,
  Finding,
  ObservedCluster,
  ObservedMachine,
  PoolMachine,
} from "../../../engine/index.ts";
import type { Change } from "../../../talos/config/index.ts";
import { given, isGiven } from "../../../talos/given.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import type { Client } from "../client.ts";
import { withPatchFiles } from "../patch-files.ts";
import { type RunningMachines, withRunningMachines } from "./running.ts";
import {
  type ClusterInput,
  clusterSpec,
  leavingMachines,
  policyOf,
  renderCluster,
  standInPlane,
  withoutOldMeta,
} from "./spec.ts";

/** The sentences of the steps that bring up a cluster whose machines wait in maintenance mode. */
export async function stepsOfCreate(input: ClusterInput): Promise<readonly string[]> {
  const { outlineOf, plan, schematicOf } = await import("../../../engine/index.ts");
  const spec = await clusterSpec(input);
  const desired = outlineOf(input.join === null ? spec : { ...spec, machines: [standInPlane, ...spec.machines] });
  const before = input.join === null ? undefined : { ...desired, machines: desired.machines.slice(0, 1) };
  return plan(desired, assume(desired, before, schematicOf), policyOf(input)).map(({ sentence }) => sentence);
}

export interface PlannedUpdate {
  /** Changes that the engine refuses, such as a patch of a setting that is fixed. */
  readonly refused: readonly Finding[];
  /** Machines that run what no upgrade leads away from: no step changes that. */
  readonly conflicts: readonly Finding[];
  readonly steps: readonly string[];
  readonly changes: Readonly<Record<string, readonly string[]>>;
  /** Warnings of what an upgrade of Talos changes although configs stay. */
  readonly notes: readonly { readonly summary: string; readonly detail: string }[];
}

interface Update {
  readonly prior: ClusterInput;
  readonly next: ClusterInput;
  readonly drift: readonly string[];
  readonly running: RunningMachines;
  /** Machines of scaling pools. */
  readonly found: readonly PoolMachine[];
}

/**
 * The steps from one desired state to the next, and what they change, if the cluster is as the first one left it, but for
 * what the last refresh has found.
 */
export async function planOfUpdate(
  { prior, next, drift, running, found }: Update,
  secrets: SecretsBundle,
  client: Client,
): Promise<PlannedUpdate> {
  const { configFindings, imageFindings, immutableFindings, plan, schematicOf, versionConflicts } = await import(
    "../../../engine/index.ts"
  );
  const leaving = leavingMachines(prior, next);
  const [whole, wholeNext] = await Promise.all([withPresentFiles(prior, next, client), withPatchFiles(next, client)]);
  const before = await renderCluster(whole, secrets, { found });
  const after = await renderCluster(withoutOldMeta(prior, wholeNext), secrets, { leaving, found });
  const assumed = assume(after, before, schematicOf);
  const { observed, explained } = await withRunningMachines(assumed, { before, after }, running);
  const planned = plan(after, observed, policyOf(next));
  const steps = planned.map(({ sentence }) => sentence);
  // A machine gets its whole config at once, what was found with what is new: a changed patch file is both.
  const configured = planned.flatMap(({ kind, machine }) => (kind === "apply-config" ? [machine] : []));
  const isTold = (sentence: string) => configured.some((machine) => sentence.startsWith(`apply config to ${machine} `));
  const first = drift.filter((sentence) => !explained.has(sentence) && !isTold(sentence));
  return {
    refused: [immutableFindings, configFindings, imageFindings].flatMap((find) => find(after, observed)),
    conflicts: versionConflicts(after, observed),
    steps: [...first, ...steps.filter((step) => !first.includes(step))],
    // Shown to people, so without what patch files hold.
    notes: await upgradeNotes(before, after),
    changes: await configChanges(
      await renderCluster(prior, secrets, { found }),
      await renderCluster(next, secrets, { leaving, found }),
    ),
  };
}

async function upgradeNotes(before: DesiredCluster, after: DesiredCluster): Promise<PlannedUpdate["notes"]> {
  if (before.talosVersion.contract.equals(after.talosVersion.contract)) return [];
  const { releaseChanges, releaseChangesTitle: summary } = await import("../../../talos/config/migrate/index.ts");
  const upgraded = after.machines.flatMap(({ name, config }) => {
    const was = before.machines.find((machine) => machine.name === name)?.config;
    if (was === undefined || was.text === "" || config.text === "") return [];
    return [{ name, from: before.talosVersion, before: was, after: config }];
  });
  return releaseChanges(upgraded, after.talosVersion).map((detail) => ({ summary, detail }));
}

/** The prior wishes with the patch files that are still named; those that are not may be gone from the disk. */
async function withPresentFiles(prior: ClusterInput, next: ClusterInput, client: Client): Promise<ClusterInput> {
  const holders = [...Object.values(next.machines), ...Object.values(next.scaling_pools ?? {})];
  const named = new Set(holders.flatMap(({ patch_files: files }) => files ?? []));
  const present = <H extends { readonly patch_files: readonly string[] | null }>(some: Readonly<Record<string, H>>) =>
    Object.fromEntries(
      Object.entries(some).map(([name, holder]) => {
        const files = holder.patch_files?.filter((file) => named.has(file)) ?? null;
        return [name, { ...holder, patch_files: files }] as const;
      }),
    );
  const { machines, scaling_pools: pools } = prior;
  return withPatchFiles({ ...prior, machines: present(machines), scaling_pools: pools && present(pools) }, client);
}

/** With numbers, a step of a long plan can be named to others. */
export function numbered(sentences: readonly string[]): readonly string[] {
  return sentences.map((sentence, index) => `${index + 1}. ${sentence}`);
}

/** What would be observed if everything went well so far: machines of `before` run, all others wait for a config. */
function assume(
  desired: DesiredCluster,
  before: DesiredCluster | undefined,
  schematicOf: (image: string) => string | undefined,
): ObservedCluster {
  const planes = before?.machines.filter(({ role }) => role === "controlplane") ?? [];
  const members = planes.map(({ name }) => ({ id: name, hostname: name, peerUrls: [], learner: false }));
  const etcd = { state: "running", healthy: true, leaderId: planes[0]?.name ?? "", members } as const;
  const machines = [...desired.machines, ...desired.leaving].map((machine): ObservedMachine => {
    const { name, role, address } = machine;
    const was = before?.machines.find((other) => other.name === name && other.address === address);
    if (was === undefined || before === undefined)
      return { name, role, address, state: { kind: "maintenance", fingerprint: "" } };
    return {
      name,
      role,
      address,
      state: {
        kind: "configured",
        stage: "running",
        ready: true,
        unmet: [],
        talosVersion: before.talosVersion.toString(),
        schematic: schematicOf(was.installImage) ?? "",
        // A stand-in has none: then the engine has nothing to compare.
        bootId: name,
        meta: was.meta ?? {},
        ...given({
          config: was.config.text === "" ? undefined : was.config,
          etcd: role === "controlplane" ? { ...etcd, memberId: name } : undefined,
        }),
      },
    };
  });
  return {
    machines: new Map(machines.map((machine) => [machine.name, machine])),
    kubernetes:
      before === undefined
        ? { kind: "unreachable", reason: "the cluster is not there yet" }
        : { kind: "reachable", nodes: before.machines.map((machine) => assumedNode(before, machine)) },
  };
}

function assumedNode(before: DesiredCluster, { name, role, address }: DesiredCluster["machines"][number]) {
  return {
    name,
    ready: true,
    unschedulable: false,
    cordonedByUs: false,
    controlPlane: role === "controlplane",
    addresses: [address],
    kubeletVersion: `v${before.kubernetesVersion}`,
  };
}

/** Longer values are told by their size: the plan is for reading. */
const longestValue = 160;

/** What changes in each machine's config, by path, with secrets replaced. Machines without a change are left out. */
export async function configChanges(
  before: Pick<DesiredCluster, "contract"> & {
    readonly machines: readonly Pick<DesiredMachine, "name" | "config">[];
  },
  after: Pick<DesiredCluster, "machines" | "contract" | "talosVersion">,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const { diffConfigs, movesInWords } = await import("../../../talos/config/index.ts");
  const { changesByEffect, withoutEffectInWords } = await import("../../../talos/config/migrate/index.ts");
  const isMigrated = before.contract.compare(after.contract) < 0;
  const changes: Record<string, readonly string[]> = {};
  for (const machine of after.machines) {
    const was = before.machines.find(({ name }) => name === machine.name);
    if (was === undefined || was.config.text === machine.config.text) continue;
    const { effective: found, withoutEffect } = isMigrated
      ? changesByEffect(was.config, machine.config, after.talosVersion.contract)
      : { effective: diffConfigs(was.config, machine.config), withoutEffect: [] };
    const moves = movesInWords(found);
    const same = withoutEffectInWords(withoutEffect, after.contract);
    const lines = found.flatMap((change) => {
      if (change.kind === "moved") return [];
      const what = change.path === "" ? change.kind : `${brief(change.before)} → ${brief(change.after)}`;
      return `${placeInWords(change)}: ${what}${change.reboot ? " (reboots)" : ""}`;
    });
    const told = [...lines, same, moves].filter(isGiven);
    if (told.length > 0) changes[machine.name] = told;
  }
  return changes;
}

/** `machine.sysctls` or `HostnameConfig auto`. */
export function placeInWords({ document, path }: Change): string {
  return document === "v1alpha1" ? path : `${document} ${path}`.trim();
}

function brief(yaml: string | undefined): string {
  if (yaml === undefined) return "none";
  const text = yaml.trim();
  const lines = text.split("\n");
  return lines.length === 1 && text.length <= longestValue ? text : `(${lines.length} lines)`;
}
