// SPDX-License-Identifier: Apache-2.0
import type {
  DesiredCluster,
  EtcdMember,
  KubernetesNode,
  MachineEtcd,
  MachineRole,
  MachineState,
  ObservedCluster,
  Step,
} from "../../engine/index.ts";

type ConfiguredMachine = Extract<MachineState, { kind: "configured" }>;

/** How a cluster differs from one that is well and as its last wish said. */
export interface Difference {
  /** What the machines run; by default what is wished now. */
  readonly was?: DesiredCluster;
  /** Other states, or parts of one, by machine. */
  readonly machines?: Readonly<Record<string, Exclude<MachineState, ConfiguredMachine> | Partial<ConfiguredMachine>>>;
  /** Parts of nodes by name; `"none"` where there is none. */
  readonly nodes?: Readonly<Record<string, Partial<KubernetesNode> | "none">>;
  /** Names of etcd's members; by default all control planes. A learner has a `~` before it. */
  readonly members?: readonly string[];
  readonly leader?: string;
  readonly kubernetes?: "unreachable";
  readonly proxyVersion?: string;
}

type Elsewhere = Exclude<MachineState, ConfiguredMachine>;
export const empty: Elsewhere = { kind: "maintenance", fingerprint: "print" };
export const unreachable: Elsewhere = { kind: "unreachable", reason: "refused" };

/** The same of several names. */
export const each = <T>(names: readonly string[], value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.map((name) => [name, value]));

export const memberOf = (word: string): EtcdMember => ({
  id: `id-${word.replace("~", "")}`,
  hostname: word.replace("~", ""),
  peerUrls: [],
  learner: word.startsWith("~"),
});

/** What is seen of a cluster. */
export function found(desired: DesiredCluster, difference: Difference = {}): ObservedCluster {
  const { was = desired, machines = {}, nodes = {}, leader = "cp-1" } = difference;
  const all = [...desired.machines, ...desired.leaving];
  const planes = all.filter(({ role }) => role === "controlplane").map(({ name }) => name);
  const members = (difference.members ?? planes).map(memberOf);
  const etcdOf = (name: string): MachineEtcd => ({
    state: "running",
    healthy: true,
    memberId: `id-${name}`,
    leaderId: `id-${leader}`,
    members,
  });
  const stateOf = ({ name, role }: { readonly name: string; readonly role: MachineRole }): MachineState => {
    const { kind = "configured", ...other } = machines[name] ?? {};
    if (kind !== "configured") return { kind, ...other } as MachineState;
    const config = was.machines.find((machine) => machine.name === name)?.config;
    return {
      kind: "configured",
      stage: "running",
      ready: true,
      unmet: [],
      talosVersion: was.talosVersion.toString(),
      bootId: "1",
      ...(config === undefined ? {} : { config }),
      ...(role === "controlplane" ? { etcd: etcdOf(name) } : {}),
      ...(other as Partial<ConfiguredMachine>),
    };
  };
  const nodeOf = ({ name, role }: { readonly name: string; readonly role: MachineRole }): KubernetesNode[] => {
    const part = nodes[name] ?? {};
    if (part === "none") return [];
    const state = machines[name]?.kind ?? "configured";
    if (state !== "configured" && nodes[name] === undefined) return [];
    return [
      {
        name,
        ready: true,
        unschedulable: part.cordonedByUs === true,
        cordonedByUs: false,
        controlPlane: role === "controlplane",
        addresses: [],
        kubeletVersion: `v${was.kubernetesVersion}`,
        ...part,
      },
    ];
  };
  return {
    machines: new Map(all.map((one) => [one.name, { ...one, state: stateOf(one) }])),
    kubernetes:
      difference.kubernetes === "unreachable"
        ? { kind: "unreachable", reason: "refused" }
        : {
            kind: "reachable",
            nodes: all.flatMap(nodeOf),
            ...(difference.proxyVersion === undefined ? {} : { proxyVersion: difference.proxyVersion }),
          },
  };
}

/** A plan in lines: each step and what it waits for; `>` where that is just the step before it. */
export const told = (steps: readonly Step[]): readonly string[] =>
  steps.map(({ id, after }, index) => {
    if (after.length === 0) return id;
    return after.length === 1 && after[0] === steps[index - 1]?.id ? `> ${id}` : `${id} < ${after.join(" ")}`;
  });
