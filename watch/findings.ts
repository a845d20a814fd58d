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
  const components = observation.kubernetes === false ? undefined : componentsFinding(observation);
  const running = [etcd, kubernetes, components].filter(isGiven);
  const kept = [driftFinding(observation, now), certificateFinding(observation, now), backup].filter(isGiven);
  return { cluster: [readyFinding(running, machines), ...running, ...kept], machines };
}

const findingOf = (type: string) => (status: Finding["status"], reason: string, message: string) =>
  ({ type, status, reason, message }) satisfies Finding;

function readyFinding(parts: readonly Finding[], machines: Findings["machines"]): Finding {
  const is = findingOf("Ready");
  const own = Object.entries(machines).flatMap(([name, list]) =>
    list
      .filter(({ type }) => type === "Ready")
      .map((finding) => ({ ...finding, message: `${name}: ${finding.message}` })),
  );
  const bad = [...parts, ...own].filter(({ status }) => status !== "True");
  const all = own.length === 1 ? "its machine is ready" : `all ${own.length} machines are ready`;
  const worst = bad.find(({ status }) => status === "False") ?? bad[0];
  if (worst === undefined) return is("True", "AllReady", all);
  return is(worst.status, worst.reason, listed(bad.map(({ message }) => message)));
}

function etcdFinding({ observed, machines }: ClusterObservation): Finding {
  const is = findingOf("EtcdHealthy");
  const facts = etcdFacts(observed);
  const planes = machines.filter(({ role }) => role === "controlplane");
  if (facts === undefined) {
    const asked = planes.some(({ name }) => observed.machines.get(name)?.state.kind === "configured");
    return asked
      ? is("False", "NotRunning", "no control plane runs etcd")
      : is("Unknown", "NoControlPlaneAnswers", "no control plane could be asked");
  }
  const { members, voters, healthy, quorum } = facts;
  const counted = `${healthy} of ${voters} members healthy, quorum ${quorum}`;
  if (healthy < quorum) return is("False", "QuorumLost", counted);
  if (healthy < voters) return is("False", "MemberUnhealthy", counted);
  const missing = planes.filter(({ name }) => members.every((member) => member.name !== name)).map(({ name }) => name);
  if (missing.length > 0) return is("False", "MemberMissing", `not a member: ${missing.join(", ")}`);
  return is("True", "AllMembersHealthy", counted);
}

function kubernetesFinding({ observed: { kubernetes } }: ClusterObservation): Finding {
  const is = findingOf("KubernetesAvailable");
  return kubernetes.kind === "reachable"
    ? is("True", "Answers", "the Kubernetes API answers")
    : is("False", "NoAnswer", kubernetes.reason);
}

/** Known only where the Kubernetes API answers. */
function componentsFinding({ observed: { kubernetes }, unready = [] }: ClusterObservation): Finding | undefined {
  const is = findingOf("ComponentsReady");
  if (kubernetes.kind === "unreachable" || kubernetes.components === undefined) return undefined;
  const bad = unready.filter(({ part }) => part === "component").map(({ message }) => message);
  return bad.length === 0
    ? is("True", "AllReady", "the components of all control planes are ready")
    : is("False", "NotReady", listed(bad));
}

function driftFinding(observation: ClusterObservation, now: Date): Finding {
  const is = findingOf("Drifted");
  const { steps, machines, observed } = observation;
  const renewals = endingFiles(observation, now).map(({ name }) => `renew the ${name}`);
  const work = [...steps.map(({ sentence }) => sentence), ...renewals];
  if (work.length > 0) {
    const reason = steps.some(({ destructive }) => destructive) ? "DestructiveStepsPending" : "StepsPending";
    return is("True", reason, listed(work));
  }
  const silent = machines.filter(({ name }) => observed.machines.get(name)?.state.kind === "unreachable");
  if (silent.length > 0) {
    const names = silent.map(({ name }) => name).join(", ");
    return is("Unknown", "MachinesUnreachable", `cannot be compared: ${names}`);
  }
  return is("False", "AsDeclared", "the cluster is what its file says");
}

function certificateFinding({ certificates }: ClusterObservation, now: Date): Finding {
  const is = findingOf("CertificatesValid");
  const left = (at: Date) => at.getTime() - now.getTime();
  const words = certificates.map(({ name, expiresAt }) => ({
    left: left(expiresAt),
    text: `${name} until ${expiresAt.toISOString()}`,
  }));
  const over = words.filter((one) => one.left <= 0);
  if (over.length > 0) return is("False", "Expired", listed(over.map(({ text }) => text)));
  const soon = words.filter((one) => one.left < renewBefore);
  if (soon.length > 0) return is("True", "ExpiringSoon", listed(soon.map(({ text }) => text)));
  if (words.length === 0) return is("Unknown", "NoneFound", "there are no client files here");
  const first = words.reduce((least, one) => (one.left < least.left ? one : least));
  return is("True", "Valid", `the first to end: ${first.text}`);
}

function backupFinding({ last, problem, unreadable }: NonNullable<ClusterObservation["backup"]>): Finding {
  const is = findingOf("BackupRecent");
  if (unreadable) return is("Unknown", "StoreUnreadable", problem ?? "");
  if (last === undefined) return is("False", "NoBackup", problem ?? "there is none");
  if (problem !== undefined) return is("False", "ScheduleMissed", `${last}: ${problem}`);
  return is("True", "Recent", `the newest is ${last}`);
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
  const is = findingOf("Ready");
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
  const is = findingOf("Reachable");
  if (state.kind === "unreachable") return is("False", "NoAnswer", state.reason);
  if (state.kind === "foreign") return is("False", "ForeignMachine", state.reason);
  return is("True", "Answers", "the Talos API answers");
}

function drifted(state: MachineState, steps: readonly Step[], name: string): Finding {
  const is = findingOf("Drifted");
  const own = steps.filter(({ machine }) => machine === name).map(({ sentence }) => sentence);
  if (own.length > 0) return is("True", "StepsPending", listed(own));
  if (state.kind === "unreachable" || state.kind === "foreign") return is("Unknown", "Unreachable", state.reason);
  return is("False", "AsDeclared", "it is what its file says");
}

function etcd(state: MachineState): Finding {
  const is = findingOf("EtcdHealthy");
  if (state.kind !== "configured" || state.etcd === undefined)
    return is("Unknown", "NotAsked", "its etcd could not be asked");
  const { state: word, healthy } = state.etcd;
  if (word === "waiting") return is("False", "NotStarted", "its etcd has no data yet");
  const bad = word === "down" ? "down" : healthy ? undefined : "not well";
  if (bad !== undefined) return is("False", "Unhealthy", `its etcd is ${bad}`);
  return is("True", "Healthy", "its etcd member is well");
}

/** etcd as its best informed member reports it; undefined while none answers. */
export function etcdFacts(observed: ObservedCluster) {
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
