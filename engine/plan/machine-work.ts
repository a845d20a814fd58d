// SPDX-License-Identifier: Apache-2.0
import { configChange } from "../../talos/config/index.ts";
import { given } from "../../talos/given.ts";
import { KubernetesVersion, TalosVersion } from "../../talos/version/index.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import { type ConfiguredMachine, type KubernetesNode, type ObservedCluster, runsOtherSchematic } from "../observed.ts";
import { type Policy, usesKubernetes } from "../policy.ts";
import type { KubernetesComponent } from "../step.ts";
import { componentVersions } from "./component-images.ts";
import { configHeldBack } from "./next-config.ts";
import { configured, etcdView, nodeOf } from "./quorum.ts";

export interface ComponentUpgrade {
  readonly component: KubernetesComponent;
  readonly from: string;
  readonly to: string;
}

/** What separates one configured machine from where it should be. */
export interface MachineWork {
  readonly talos?: { readonly from: string; readonly to: string };
  /** A difference beyond the versions of Kubernetes. */
  readonly config?: { readonly reboot: boolean; readonly paths: readonly string[] };
  readonly kubernetes: readonly ComponentUpgrade[];
}

/** Reading configs is the dear part of planning, and a plan asks for each machine's work many times. */
const known = new WeakMap<DesiredCluster, WeakMap<ConfiguredMachine, MachineWork>>();

export function machineWork(desired: DesiredCluster, machine: DesiredMachine, state: ConfiguredMachine): MachineWork {
  const byState = known.get(desired) ?? new WeakMap<ConfiguredMachine, MachineWork>();
  known.set(desired, byState);
  const work = byState.get(state) ?? findWork(desired, machine, state);
  byState.set(state, work);
  return work;
}

function findWork(desired: DesiredCluster, machine: DesiredMachine, state: ConfiguredMachine): MachineWork {
  const talos = talosWork(desired, machine, state);
  // Configs are long: those that are equal need no reading.
  if (state.config === undefined || state.config.text === machine.config.text)
    return { ...given({ talos }), kubernetes: [] };
  const wanted = componentVersions(machine.config);
  const kubernetes: ComponentUpgrade[] = [];
  for (const [component, from] of componentVersions(state.config)) {
    const to = wanted.get(component);
    if (to !== undefined && mayChange(from, to)) kubernetes.push({ component, from, to });
  }
  const change = configChange(state.config, configHeldBack(machine.config, state.config));
  const config = change && {
    paths: change.places.map(({ title }) => title),
    reboot: change.reboot && desired.talosVersion.contract.rebootsForConfig,
  };
  return { ...given({ talos, config }), kubernetes };
}

/** True when nothing is left to do or to wait for on this machine, apart from changes. */
export function isSettled(
  desired: DesiredCluster,
  machine: DesiredMachine,
  observed: ObservedCluster,
  policy: Policy,
): boolean {
  return inEtcd(machine, observed) && (!usesKubernetes(policy) || inKubernetes(desired, machine, observed));
}

/** A control plane is a healthy voter; a worker has nothing to do with etcd. */
export function inEtcd(machine: Pick<DesiredMachine, "name" | "role">, observed: ObservedCluster): boolean {
  if (machine.role === "worker") return true;
  const own = configured(observed.machines.get(machine.name))?.etcd;
  if (own?.state !== "running" || !own.healthy) return false;
  const member = etcdView(observed)?.members.find(({ id }) => id === own.memberId);
  return member !== undefined && !member.learner;
}

export function inKubernetes(
  desired: Pick<DesiredCluster, "nodesBecomeReady">,
  machine: Pick<DesiredMachine, "name">,
  observed: ObservedCluster,
): boolean {
  return inService(desired, nodeOf(observed, machine.name));
}

/** A ready node; where there is no pod network yet, one that has registered. */
export function inService(
  { nodesBecomeReady }: Pick<DesiredCluster, "nodesBecomeReady">,
  node: KubernetesNode | undefined,
): boolean {
  return node !== undefined && (node.ready || !nodesBecomeReady);
}

function talosWork(desired: DesiredCluster, machine: DesiredMachine, state: ConfiguredMachine): MachineWork["talos"] {
  const to = desired.talosVersion;
  if (state.talosVersion === to.toString()) {
    const other = runsOtherSchematic(machine.installImage, state);
    return other ? { from: to.toString(), to: to.toString() } : undefined;
  }
  const from = TalosVersion.parse(state.talosVersion);
  return from.compare(to) < 0 ? { from: from.toString(), to: to.toString() } : undefined;
}

/** Whether a component of Kubernetes has to go to another version, and may: over a minor version none goes back. */
export function mayChange(from: string, to: string): boolean {
  const [before, after] = [KubernetesVersion.parse(from), KubernetesVersion.parse(to)];
  return before.compare(after) < 0 || before.canRollBackTo(after);
}
