// SPDX-License-Identifier: Apache-2.0
// What a refresh finds machines to run where that is not what the state says, as after an apply that was stopped. It is
// stored with the state, so that the plan, which asks no machine, has the steps that are left and no others.
import { createHash } from "node:crypto";
import type { DesiredCluster, ObservedCluster, ObservedMachine, PoolMachine } from "../../../engine/index.ts";
import type { MachineConfig } from "../../../talos/config/index.ts";
import { given } from "../../../talos/given.ts";

interface RunningMachine {
  readonly talos: string;
  readonly schematic?: string;
  /** Images of Kubernetes by component. */
  readonly images: Readonly<Record<string, string>>;
  /** Hash of the config, which holds secrets. */
  readonly config: string;
  /** Whether an interrupted run has left the node cordoned. */
  readonly cordoned: boolean;
  /** The sentences of the steps that would bring it back to the state. */
  readonly drift: readonly string[];
}

export type RunningMachines = Readonly<Record<string, RunningMachine>>;

interface DriftStep {
  readonly machine: string;
  readonly sentence: string;
}

/** The configured machines that do not run what was applied; empty for a cluster that is as its state says. */
export async function machinesApart(
  desired: DesiredCluster,
  observed: ObservedCluster,
  drift: readonly DriftStep[],
): Promise<RunningMachines> {
  const { componentImages } = await import("../../../engine/index.ts");
  const nodes = observed.kubernetes.kind === "reachable" ? observed.kubernetes.nodes : [];
  const found = desired.machines.flatMap(({ name, config }) => {
    const state = observed.machines.get(name)?.state;
    if (state?.kind !== "configured" || state.config === undefined) return [];
    const cordoned = nodes.some((node) => node.name === name && node.cordonedByUs);
    const own = drift.filter((step) => step.machine === name).map(({ sentence }) => sentence);
    const isApart = state.talosVersion !== desired.talosVersion.toString() || state.config.text !== config.text;
    if (!isApart && !cordoned && own.length === 0) return [];
    const running: RunningMachine = {
      talos: state.talosVersion,
      ...given({ schematic: state.schematic }),
      images: Object.fromEntries(componentImages(state.config)),
      config: hashOf(state.config),
      cordoned,
      drift: own,
    };
    return [[name, running] as const];
  });
  return Object.fromEntries(found);
}

/** The memory with these machines in place of those that it had, and those of scaling pools. */
export function withRunning(remembered: string, running: RunningMachines, pools: readonly PoolMachine[]): string {
  const { running: _, pools: __, ...memory } = memoryIn(remembered);
  const next = {
    ...memory,
    ...given({
      running: Object.keys(running).length === 0 ? undefined : running,
      pools: pools.length === 0 ? undefined : pools,
    }),
  };
  return Object.keys(next).length === 0 ? "" : JSON.stringify(next);
}

/** The machines of scaling pools that the last refresh found: the plan, which asks no machine, has steps for them. */
export function poolMachinesOf(remembered: string): readonly PoolMachine[] {
  const { pools } = memoryIn(remembered);
  return Array.isArray(pools) ? pools.filter(isPoolMachine) : [];
}

function isPoolMachine(value: unknown): value is PoolMachine {
  const { name, address, scalingPool } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [name, address, scalingPool].every((text) => typeof text === "string");
}

/** What the last refresh found; empty when it found nothing else than the state says, or there was none. */
export function runningOf(remembered: string): RunningMachines {
  const machines = Object.entries(memoryIn(remembered).running ?? {});
  return Object.fromEntries(machines.filter((entry): entry is [string, RunningMachine] => isRunning(entry[1])));
}

/** By hand: a library that checks it would double what Terraform loads at every start. */
function isRunning(value: unknown): value is RunningMachine {
  const { talos, images, config, drift } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [talos, config].every((text) => typeof text === "string") && images instanceof Object && Array.isArray(drift);
}

function memoryIn(remembered: string): Readonly<Record<string, unknown>> {
  return remembered === "" ? {} : (JSON.parse(remembered) as Readonly<Record<string, unknown>>);
}

export interface Overlaid {
  readonly observed: ObservedCluster;
  /** Steps of the drift that the plan has in its own way: their machines have the old config or the new one, and no third. */
  readonly explained: ReadonlySet<string>;
}

/** A cluster that is assumed to be as its state says, with what its machines really run. */
export async function withRunningMachines(
  assumed: ObservedCluster,
  { before, after }: { readonly before: DesiredCluster; readonly after: DesiredCluster },
  running: RunningMachines,
): Promise<Overlaid> {
  const { withRunningVersions } = await import("../../../engine/index.ts");
  const explained = new Set<string>();
  const configs = (name: string) =>
    [after, before].flatMap(({ machines }) => machines.filter((one) => one.name === name).map(({ config }) => config));
  const machines = [...assumed.machines.values()].map((one): ObservedMachine => {
    const found = running[one.name];
    if (found === undefined || one.state.kind !== "configured" || one.state.config === undefined) return one;
    const images = new Map(Object.entries(found.images)) as Parameters<typeof withRunningVersions>[1];
    const candidates = configs(one.name).flatMap((config) => [config, withRunningVersions(config, images)]);
    const config = candidates.find((candidate) => hashOf(candidate) === found.config);
    if (config !== undefined) for (const sentence of found.drift) explained.add(sentence);
    const { schematic = one.state.schematic } = found;
    const state = {
      ...one.state,
      talosVersion: found.talos,
      config: config ?? withRunningVersions(one.state.config, images),
      ...given({ schematic }),
    };
    return { ...one, state };
  });
  const byName = new Map(machines.map((one) => [one.name, one]));
  return { observed: { machines: byName, kubernetes: cordonedNodes(assumed, running) }, explained };
}

function cordonedNodes({ kubernetes }: ObservedCluster, running: RunningMachines): ObservedCluster["kubernetes"] {
  if (kubernetes.kind !== "reachable") return kubernetes;
  const nodes = kubernetes.nodes.map((node) => {
    const isCordoned = running[node.name]?.cordoned ?? false;
    return isCordoned ? { ...node, cordonedByUs: true, unschedulable: true } : node;
  });
  return { ...kubernetes, nodes };
}

function hashOf({ text }: MachineConfig): string {
  return createHash("sha256").update(text).digest("hex");
}
