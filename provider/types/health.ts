// SPDX-License-Identifier: Apache-2.0

import type { MachineState, MachineTarget, ObservedCluster } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { type Attributes, attribute, type DataSource } from "../framework/index.ts";
import { withMachines } from "./access.ts";
import type { Client } from "./client.ts";
import { reasonOf } from "./translate-error.ts";
import { machineAddress, machineRole } from "./value-rules.ts";

const attributes = {
  endpoint: attribute.required.string("URL of the Kubernetes API."),
  machines: attribute.required.nestedMap("The machines to look at, by name.", {
    role: machineRole,
    address: machineAddress,
  }),
  talos_endpoints: attribute.optional.stringList(
    "Through which the Talos API is reached, as in the `talosmith_cluster`.",
  ),
  healthy: attribute.computed.bool("Whether nothing is wrong."),
  problems: attribute.computed.stringList("What is wrong, one sentence each."),
  stages: attribute.computed.stringMap("What each machine is doing, such as `running`."),
  versions: attribute.computed.stringMap("The Talos release that each machine runs."),
} satisfies Attributes;

/** How a cluster is right now. It waits for nothing and fails for no machine, so it never stands in the way of a plan. */
export const health: DataSource<typeof attributes, Client> = {
  name: "talosmith_health",
  description:
    "How a cluster is at this moment. It takes one look, with a deadline, and tells what it saw: an unhealthy cluster is a result and not an error.",
  attributes,
  timeouts: { read: "20s" },

  async read({ config, client, signal }) {
    const { endpoint, machines: wanted, talos_endpoints } = config;
    const unseen = (problem: string) => ({ ...config, healthy: false, problems: [problem], stages: {}, versions: {} });
    const secrets = await client.secrets.find();
    if (secrets === undefined) return unseen("the cluster's secrets are not there, so nobody can be asked");
    const { observe } = await import("../../engine/index.ts");
    const desired = {
      endpoint,
      ...given({ talosEndpoints: talos_endpoints ?? undefined }),
      machines: Object.entries(wanted).map(([name, { role, address }]): MachineTarget => {
        return { name, role: role === "controlplane" ? "controlplane" : "worker", address };
      }),
      leaving: [],
    };
    let observed: ObservedCluster;
    try {
      observed = await withMachines({ desired, secrets }, (machines) => observe(desired, { machines, signal }));
    } catch (error) {
      return unseen(`the machines could not be checked: ${reasonOf(error)}`);
    }
    const list = [...observed.machines.values()];
    const problems = [
      ...list.flatMap(({ name, state }) => problemsOf(name, state)),
      ...kubernetesProblems(list, observed.kubernetes),
    ];
    const versions = list.flatMap(({ name, state }) =>
      "talosVersion" in state && state.talosVersion !== undefined ? [[name, state.talosVersion] as const] : [],
    );
    return {
      ...config,
      healthy: problems.length === 0,
      problems,
      stages: Object.fromEntries(list.map(({ name, state }) => [name, stageOf(state)])),
      versions: Object.fromEntries(versions),
    };
  },
};

function stageOf(state: MachineState): string {
  return state.kind === "configured" ? state.stage : state.kind;
}

function problemsOf(name: string, state: MachineState): string[] {
  if (state.kind === "maintenance") return [`${name} has no config`];
  if (state.kind !== "configured") return [`${name}: ${state.reason}`];
  const problems = state.unmet.map((condition) => `${name}: ${condition.name}: ${condition.reason}`);
  if (!state.ready && problems.length === 0) problems.push(`${name} is ${state.stage} and not ready`);
  if (state.etcd !== undefined && !state.etcd.healthy) problems.push(`etcd on ${name} is not healthy`);
  return problems;
}

function kubernetesProblems(
  machines: readonly { readonly name: string }[],
  kubernetes: ObservedCluster["kubernetes"],
): readonly string[] {
  if (kubernetes.kind === "unreachable") return [`the Kubernetes API does not answer: ${kubernetes.reason}`];
  return machines.flatMap(({ name }) => {
    const node = kubernetes.nodes.find((other) => other.name === name);
    if (node === undefined) return [`${name} is not a Kubernetes node`];
    return node.ready ? [] : [`the Kubernetes node ${name} is not ready`];
  });
}
