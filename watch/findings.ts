// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredMachine,
  etcdView,
  type MachineState,
  type ObservedCluster,
  quorumOf,
  type Step,
  stateOf,
} from "../engine/index.ts";
import { renewBefore } from "../talos/client-file.ts";
import { isGiven } from "../talos/given.ts";
import type { Finding, Findings } from "./conditions.ts";
import { type ClusterObservation, endingFiles } from "./observe-cluster.ts";

/** What an observation means, as conditions without their age. Pure. */
export function findingsOf(observation: ClusterObservation, now: Date): Findings {
  const machines = Object.fromEntries(
    observation.machines.map((machine) => [machine.name, machineFindings(machine, observation)]),
  );
  const etcd = etcdFinding(observation);
  const kubernetes = observation.kubernetes === false ? undefined : kubernetesFinding(observation);
  const backup = observation.backup && backupFinding(observation.backup);
  const running = [etcd, kubernetes].filter(isGiven);
  const kept = [driftFinding(observation, now), certificateFinding(observation, now), backup].filter(isGiven);
  return { cluster: [readyFinding(running, machines), ...running, ...kept], machines };
}

function readyFinding(parts: readonly Finding[], machines: Findings["machines"]): Finding {
  const type = "Ready";
  const own = Object.entries(machines).flatMap(([name, list]) =>
    list
      .filter((finding) => finding.type === type)
      .map((finding) => ({ ...finding, message: `${name}: ${finding.message}` })),
  );
  const bad = [...parts, ...own].filter(({ status }) => status !== "True");
  const all = own.length === 1 ? "its machine is ready" : `all ${own.length} machines are ready`;
  const worst = bad.find(({ status }) => status === "False") ?? bad[0];
  if (worst === undefined) return { type, status: "True", reason: "AllReady", message: all };
  return { type, status: worst.status, reason: worst.reason, message: listed(bad.map(({ message }) => message)) };
}

function etcdFinding({ observed, machines }: ClusterObservation): Finding {
  const type = "EtcdHealthy";
  const facts = etcdFacts(observed);
  const planes = machines.filter(({ role }) => role === "controlplane");
  if (facts === undefined) {
    const asked = planes.some(({ name }) => observed.machines.get(name)?.state.kind === "configured");
    return asked
      ? { type, status: "False", reason: "NotRunning", message: "no control plane runs etcd" }
      : { type, status: "Unknown", reason: "NoControlPlaneAnswers", message: "no control plane could be asked" };
  }
  const { members, voters, healthy, quorum } = facts;
  const counted = `${healthy} of ${voters} members are well, and ${quorum} are needed`;
  if (healthy < quorum) return { type, status: "False", reason: "QuorumLost", message: counted };
  if (healthy < voters) return { type, status: "False", reason: "MemberUnhealthy", message: counted };
  const missing = planes.filter(({ name }) => members.every((member) => member.name !== name)).map(({ name }) => name);
  if (missing.length > 0)
    return { type, status: "False", reason: "MemberMissing", message: `not a member: ${missing.join(", ")}` };
  return { type, status: "True", reason: "AllMembersHealthy", message: counted };
}

function kubernetesFinding({ observed: { kubernetes } }: ClusterObservation): Finding {
  const type = "KubernetesAvailable";
  return kubernetes.kind === "reachable"
    ? { type, status: "True", reason: "Answers", message: "the Kubernetes API answers" }
    : { type, status: "False", reason: "NoAnswer", message: kubernetes.reason };
}

function driftFinding(observation: ClusterObservation, now: Date): Finding {
  const type = "Drifted";
  const { steps, machines, observed } = observation;
  const renewals = endingFiles(observation, now).map(({ name }) => `renew the ${name}`);
  const work = [...steps.map(({ sentence }) => sentence), ...renewals];
  if (work.length > 0) {
    const reason = steps.some(({ destructive }) => destructive) ? "DestructiveStepsPending" : "StepsPending";
    return { type, status: "True", reason, message: listed(work) };
  }
  const silent = machines.filter(({ name }) => observed.machines.get(name)?.state.kind === "unreachable");
  if (silent.length > 0) {
    const names = silent.map(({ name }) => name).join(", ");
    return { type, status: "Unknown", reason: "MachinesUnreachable", message: `cannot be compared: ${names}` };
  }
  return { type, status: "False", reason: "AsDeclared", message: "the cluster is what its file says" };
}

function certificateFinding({ certificates }: ClusterObservation, now: Date): Finding {
  const type = "CertificatesValid";
  const left = (at: Date) => at.getTime() - now.getTime();
  const words = certificates.map(({ name, expiresAt }) => ({
    left: left(expiresAt),
    text: `${name} until ${expiresAt.toISOString()}`,
  }));
  const over = words.filter((one) => one.left <= 0);
  if (over.length > 0)
    return { type, status: "False", reason: "Expired", message: listed(over.map(({ text }) => text)) };
  const soon = words.filter((one) => one.left < renewBefore);
  if (soon.length > 0)
    return { type, status: "True", reason: "ExpiringSoon", message: listed(soon.map(({ text }) => text)) };
  if (words.length === 0)
    return { type, status: "Unknown", reason: "NoneFound", message: "there are no client files here" };
  const first = words.reduce((least, one) => (one.left < least.left ? one : least));
  return { type, status: "True", reason: "Valid", message: `the first to end: ${first.text}` };
}

function backupFinding({ last, problem, unreadable }: NonNullable<ClusterObservation["backup"]>): Finding {
  const type = "BackupFresh";
  if (unreadable) return { type, status: "Unknown", reason: "StoreUnreadable", message: problem ?? "" };
  if (last === undefined) return { type, status: "False", reason: "NoBackup", message: problem ?? "there is none" };
  if (problem !== undefined) return { type, status: "False", reason: "ScheduleMissed", message: `${last}: ${problem}` };
  return { type, status: "True", reason: "Fresh", message: `the newest is ${last}` };
}

type Machine = Pick<DesiredMachine, "name" | "role">;

/** What is found about one machine. */
function machineFindings(machine: Machine, observation: ClusterObservation): readonly Finding[] {
  const state = stateOf(machine.name, observation.observed);
  const own = [ready(machine, state, observation), reachable(state), drifted(state, observation.steps, machine.name)];
  return machine.role === "controlplane" ? [...own, etcd(state)] : own;
}

/** Names a few and counts the rest. */
export function listed(sentences: readonly string[], most = 3): string {
  const more = sentences.length - most;
  return more > 0 ? `${sentences.slice(0, most).join("; ")}; and ${more} more` : sentences.join("; ");
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
  const bad = word === "down" ? "down" : healthy ? undefined : "not well";
  if (bad !== undefined) return { type, status: "False", reason: "Unhealthy", message: `its etcd is ${bad}` };
  return { type, status: "True", reason: "Healthy", message: "its etcd member is well" };
}

interface EtcdFacts {
  readonly members: readonly {
    readonly id: string;
    /** Its machine's host name. */
    readonly name: string;
    readonly leader: boolean;
    readonly learner: boolean;
    /** Its machine stays up and reports that etcd is healthy. */
    readonly healthy: boolean;
  }[];
  readonly voters: number;
  /** Of the voters. */
  readonly healthy: number;
  readonly quorum: number;
}

/** etcd as its best informed member reports it; undefined while none answers. */
export function etcdFacts(observed: ObservedCluster): EtcdFacts | undefined {
  const view = etcdView(observed);
  if (view === undefined) return undefined;
  const members = view.members.map(({ id, hostname, learner }) => ({
    id,
    name: hostname,
    leader: id === view.leaderId,
    learner,
    healthy: view.healthy.has(id),
  }));
  const voters = members.filter(({ learner }) => !learner);
  const healthy = voters.filter((member) => member.healthy).length;
  return { members, voters: voters.length, healthy, quorum: quorumOf(voters.length) };
}
