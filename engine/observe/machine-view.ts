// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { DesiredMachine } from "../desired.ts";
import type { KubernetesNode, MachineState, ObservedCluster } from "../observed.ts";
import { nodeOf } from "../plan/quorum.ts";

/** A machine as people are told of it, wherever that is: one word each, from what was seen. */
export interface MachineView {
  readonly name: string;
  readonly role: DesiredMachine["role"];
  readonly address: string;
  /** `starting` is everything between a config and a node that is ready. */
  readonly health: "ready" | "starting" | "maintenance" | "unreachable";
  /** In Talos's words: running, upgrading …; else maintenance, unreachable or foreign. */
  readonly stage: string;
  /** Why it cannot be asked; the address is not said again. */
  readonly reason?: string;
  readonly talosVersion?: string;
  readonly kubeletVersion?: string;
  readonly cordoned: boolean;
  /** Absent where there is no etcd to tell of. */
  readonly etcd?: "leader" | "member" | "learner" | "unhealthy" | "waiting" | "down";
}

/** What was seen of a machine; one that nobody asked is like one that did not answer. */
export function stateOf(name: string, { machines }: ObservedCluster): MachineState {
  return machines.get(name)?.state ?? { kind: "unreachable", reason: "not observed" };
}

/** Control planes first, and w-2 before w-10, as people read. */
export function inReadingOrder<M extends Pick<DesiredMachine, "name" | "role">>(machines: readonly M[]): readonly M[] {
  const names = new Intl.Collator("en", { numeric: true });
  return [...machines].sort((a, b) => a.role.localeCompare(b.role) || names.compare(a.name, b.name));
}

export function machineView(
  { name, role, address }: Pick<DesiredMachine, "name" | "role" | "address">,
  observed: ObservedCluster,
): MachineView {
  const state = stateOf(name, observed);
  const node = nodeOf(observed, name);
  const talosVersion = state.kind === "configured" || state.kind === "maintenance" ? state.talosVersion : undefined;
  const reason = state.kind === "unreachable" || state.kind === "foreign" ? state.reason : undefined;
  const etcd = etcdRole(state);
  return {
    name,
    role,
    address,
    health: healthOf(state, node),
    stage: state.kind === "configured" ? state.stage : state.kind,
    cordoned: node?.unschedulable ?? false,
    ...given({ reason: reason && withoutAddress(reason, address), talosVersion, etcd }),
    ...given({ kubeletVersion: node?.kubeletVersion }),
  };
}

function withoutAddress(reason: string, address: string): string {
  return reason.startsWith(`${address}: `) ? reason.slice(address.length + 2) : reason;
}

function healthOf(state: MachineState, node: KubernetesNode | undefined): MachineView["health"] {
  if (state.kind === "unreachable" && state.onItsWay) return "starting";
  if (state.kind === "unreachable" || state.kind === "foreign") return "unreachable";
  if (state.kind === "maintenance") return "maintenance";
  return state.ready && node?.ready === true ? "ready" : "starting";
}

function etcdRole(state: MachineState): MachineView["etcd"] {
  if (state.kind !== "configured" || state.etcd === undefined) return undefined;
  const { state: word, healthy, memberId, leaderId, members } = state.etcd;
  if (word !== "running") return word;
  if (members.find(({ id }) => id === memberId)?.learner === true) return "learner";
  if (!healthy) return "unhealthy";
  return memberId !== undefined && memberId === leaderId ? "leader" : "member";
}
