// SPDX-License-Identifier: Apache-2.0
import { renewBefore } from "../talos/client-file.ts";
import { type ClusterObservation, endingFiles } from "./cluster-observation.ts";
import type { Finding, Findings } from "./conditions.ts";
import { etcdFacts } from "./etcd-facts.ts";
import { listed, machineFindings } from "./machine-findings.ts";

/** What an observation means, as conditions without their age. Pure. */
export function findingsOf(observation: ClusterObservation, now: Date): Findings {
  const machines = Object.fromEntries(
    observation.machines.map((machine) => [machine.name, machineFindings(machine, observation)]),
  );
  const etcd = etcdFinding(observation);
  const kubernetes = observation.kubernetes === false ? [] : [kubernetesFinding(observation)];
  return {
    cluster: [
      readyFinding([etcd, ...kubernetes], machines),
      etcd,
      ...kubernetes,
      driftFinding(observation, now),
      certificateFinding(observation, now),
      ...(observation.backup === undefined ? [] : [backupFinding(observation.backup)]),
    ],
    machines,
  };
}

function readyFinding(parts: readonly Finding[], machines: Findings["machines"]): Finding {
  const type = "Ready";
  const own = Object.entries(machines).flatMap(([name, list]) =>
    list
      .filter((finding) => finding.type === type)
      .map((finding) => ({ ...finding, message: `${name}: ${finding.message}` })),
  );
  const bad = [...parts, ...own].filter(({ status }) => status !== "True");
  if (bad.length === 0)
    return {
      type,
      status: "True",
      reason: "AllReady",
      message: own.length === 1 ? "its machine is ready" : `all ${own.length} machines are ready`,
    };
  const worst = bad.find(({ status }) => status === "False") ?? bad[0];
  return {
    type,
    status: worst?.status ?? "Unknown",
    reason: worst?.reason ?? "Unknown",
    message: listed(bad.map(({ message }) => message)),
  };
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
