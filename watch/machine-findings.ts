// SPDX-License-Identifier: Apache-2.0
import { type DesiredMachine, type MachineState, type Step, stateOf } from "../engine/index.ts";
import type { ClusterObservation } from "./cluster-observation.ts";
import type { Finding } from "./conditions.ts";

type Machine = Pick<DesiredMachine, "name" | "role">;

/** What is found about one machine. */
export function machineFindings(machine: Machine, observation: ClusterObservation): readonly Finding[] {
  const state = stateOf(machine.name, observation.observed);
  return [
    ready(machine, state, observation),
    reachable(state),
    drifted(state, observation.steps, machine.name),
    ...(machine.role === "controlplane" ? [etcd(state)] : []),
  ];
}

/** Names a few and counts the rest. */
export function listed(sentences: readonly string[], most = 3): string {
  const more = sentences.length - most;
  return [...sentences.slice(0, most), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function ready({ name }: Machine, state: MachineState, { observed, kubernetes = true }: ClusterObservation): Finding {
  const is = (status: Finding["status"], reason: string, message: string): Finding => ({
    type: "Ready",
    status,
    reason,
    message,
  });
  if (state.kind === "unreachable") return is("Unknown", "Unreachable", state.reason);
  if (state.kind === "foreign") return is("False", "ForeignMachine", state.reason);
  if (state.kind === "maintenance") return is("False", "Maintenance", "it has no config and waits in maintenance mode");
  if (state.stage !== "running") return is("False", "NotRunning", `it is ${state.stage}`);
  if (!state.ready)
    return is("False", "UnmetConditions", listed(state.unmet.map(({ name, reason }) => `${name}: ${reason}`)));
  if (!kubernetes) return is("True", "TalosRunning", "Talos runs and all of its conditions are met");
  if (observed.kubernetes.kind === "unreachable") {
    return is("Unknown", "KubernetesUnavailable", `its node cannot be asked for: ${observed.kubernetes.reason}`);
  }
  const node = observed.kubernetes.nodes.find((candidate) => candidate.name === name);
  if (node === undefined) return is("False", "NodeMissing", "Kubernetes has no node of this name");
  if (!node.ready) return is("False", "NodeNotReady", "its Kubernetes node is not ready");
  return is("True", "NodeReady", "Talos runs and its Kubernetes node is ready");
}

function reachable(state: MachineState): Finding {
  const type = "Reachable";
  if (state.kind === "unreachable") return { type, status: "False", reason: "NoAnswer", message: state.reason };
  if (state.kind === "foreign") return { type, status: "False", reason: "ForeignMachine", message: state.reason };
  return { type, status: "True", reason: "Answers", message: "the Talos API answers" };
}

function drifted(state: MachineState, steps: readonly Step[], name: string): Finding {
  const type = "Drifted";
  const own = steps.filter(({ machine }) => machine === name).map(({ sentence }) => sentence);
  if (own.length > 0) return { type, status: "True", reason: "StepsPending", message: listed(own) };
  if (state.kind === "unreachable" || state.kind === "foreign")
    return { type, status: "Unknown", reason: "Unreachable", message: state.reason };
  return { type, status: "False", reason: "AsDeclared", message: "it is what its file says" };
}

function etcd(state: MachineState): Finding {
  const type = "EtcdHealthy";
  if (state.kind !== "configured" || state.etcd === undefined)
    return { type, status: "Unknown", reason: "NotAsked", message: "its etcd could not be asked" };
  const { state: word, healthy } = state.etcd;
  if (word === "waiting") return { type, status: "False", reason: "NotStarted", message: "its etcd has no data yet" };
  if (word === "down" || !healthy)
    return {
      type,
      status: "False",
      reason: "Unhealthy",
      message: `its etcd is ${word === "down" ? "down" : "not well"}`,
    };
  return { type, status: "True", reason: "Healthy", message: "its etcd member is well" };
}
