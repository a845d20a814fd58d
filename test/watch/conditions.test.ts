// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type ClusterObservation,
  encodeConditions,
  findingsOf,
  parseConditions,
  withTransitions,
} from "../../watch/index.ts";
import { observedLab, running, stepFor, unreachable } from "./observations.ts";

const now = new Date("2026-11-16T12:00:00.500Z");
const etcdDown = { state: "down", healthy: false, members: [] } as const;
const at = (text: string, renewable = true) => [{ name: "kubeconfig", expiresAt: new Date(text), renewable }];

const unready = [{ part: "component", message: "cp-1: kube-scheduler is not ready" }] as const;
const sick = observedLab({}, { unready });

describe("the conditions of a cluster", () => {
  test.each<[string, ClusterObservation, string, string, string]>([
    ["all is well", observedLab(), "Ready", "True", "AllReady"],
    ["all is well", observedLab(), "EtcdHealthy", "True", "AllMembersHealthy"],
    ["all is well", observedLab(), "KubernetesAvailable", "True", "Answers"],
    ["all is well", observedLab(), "ComponentsReady", "True", "AllReady"],
    ["a component is not ready", sick, "ComponentsReady", "False", "NotReady"],
    ["a component is not ready", sick, "Ready", "False", "NotReady"],
    ["all is well", observedLab(), "Drifted", "False", "AsDeclared"],
    ["all is well", observedLab(), "CertificatesValid", "True", "Valid"],
    ["a worker is silent", observedLab({ "w-1": unreachable }), "Ready", "Unknown", "Unreachable"],
    ["a worker is silent", observedLab({ "w-1": unreachable }), "Drifted", "Unknown", "MachinesUnreachable"],
    ["a control plane is silent", observedLab({ "cp-3": unreachable }), "EtcdHealthy", "False", "MemberUnhealthy"],
    [
      "two control planes are silent",
      observedLab({ "cp-2": unreachable, "cp-3": unreachable }),
      "EtcdHealthy",
      "False",
      "QuorumLost",
    ],
    [
      "no control plane answers",
      observedLab({ "cp-1": unreachable, "cp-2": unreachable, "cp-3": unreachable }),
      "EtcdHealthy",
      "Unknown",
      "NoControlPlaneAnswers",
    ],
    [
      "etcd is down everywhere",
      observedLab({
        "cp-1": running("cp-1", { etcd: etcdDown }),
        "cp-2": running("cp-2", { etcd: etcdDown }),
        "cp-3": running("cp-3", { etcd: etcdDown }),
      }),
      "EtcdHealthy",
      "False",
      "NotRunning",
    ],
    ["there is work", observedLab({}, { steps: [stepFor("w-1")] }), "Drifted", "True", "StepsPending"],
    [
      "there is work that loses data",
      observedLab({}, { steps: [stepFor("w-1", { destructive: true })] }),
      "Drifted",
      "True",
      "DestructiveStepsPending",
    ],
    [
      "a client file ends soon",
      observedLab({}, { certificates: at("2026-12-01T00:00:00Z") }),
      "Drifted",
      "True",
      "StepsPending",
    ],
    [
      "a client file ends soon",
      observedLab({}, { certificates: at("2026-12-01T00:00:00Z") }),
      "CertificatesValid",
      "True",
      "ExpiringSoon",
    ],
    [
      "a CA ends soon, which no deploy changes",
      observedLab({}, { certificates: at("2026-12-01T00:00:00Z", false) }),
      "Drifted",
      "False",
      "AsDeclared",
    ],
    [
      "a certificate is over",
      observedLab({}, { certificates: at("2026-11-01T00:00:00Z") }),
      "CertificatesValid",
      "False",
      "Expired",
    ],
    [
      "a backup is there",
      observedLab({}, { backup: { last: "lab-1", ageSeconds: 5 } }),
      "BackupRecent",
      "True",
      "Recent",
    ],
    ["no backup was taken", observedLab({}, { backup: { problem: "none" } }), "BackupRecent", "False", "NoBackup"],
    [
      "the schedule was missed",
      observedLab({}, { backup: { last: "lab-1", problem: "missed twice" } }),
      "BackupRecent",
      "False",
      "ScheduleMissed",
    ],
    [
      "the store does not answer",
      observedLab({}, { backup: { problem: "no answer", unreadable: true } }),
      "BackupRecent",
      "Unknown",
      "StoreUnreadable",
    ],
  ])("%s: %#", (_name, look, type, status, reason) => {
    const finding = findingsOf(look, now).cluster.find((candidate) => candidate.type === type);
    expect(finding).toMatchObject({ status, reason });
    expect(finding?.message).not.toBe("");
    expect(finding?.reason).toMatch(/^[A-Z][A-Za-z]*$/);
  });

  test("nothing is said of backups that nobody wants, nor of Kubernetes where it cannot run", () => {
    const types = (look: ClusterObservation) => findingsOf(look, now).cluster.map(({ type }) => type);
    expect(types(observedLab())).not.toContain("BackupRecent");
    expect(types(observedLab({}, { kubernetes: false }))).not.toContain("KubernetesAvailable");
  });

  test("a cordon makes no etcd member unhealthy", () => {
    const look = observedLab();
    const { kubernetes } = look.observed;
    const nodes = kubernetes.kind === "reachable" ? kubernetes.nodes : [];
    const cordoned = nodes.map((node) => ({ ...node, unschedulable: node.name === "cp-2" }));
    const observed = { ...look.observed, kubernetes: { kind: "reachable" as const, nodes: cordoned } };
    const etcd = findingsOf({ ...look, observed }, now).cluster.find(({ type }) => type === "EtcdHealthy");
    expect(etcd?.status).toBe("True");
  });
});

describe("the conditions of a machine", () => {
  test.each<[string, ClusterObservation, string, string, string]>([
    ["it runs", observedLab(), "Ready", "True", "NodeReady"],
    ["it is silent", observedLab({ "cp-1": unreachable }), "Reachable", "False", "NoAnswer"],
    ["it is silent", observedLab({ "cp-1": unreachable }), "Drifted", "Unknown", "Unreachable"],
    ["it is another's", observedLab({ "cp-1": { kind: "foreign", reason: "x" } }), "Ready", "False", "ForeignMachine"],
    [
      "it is empty",
      observedLab({ "cp-1": { kind: "maintenance", fingerprint: "f" } }),
      "Ready",
      "False",
      "Maintenance",
    ],
    ["it boots", observedLab({ "cp-1": running("cp-1", { stage: "booting" }) }), "Ready", "False", "NotRunning"],
    [
      "it misses something",
      observedLab({ "cp-1": running("cp-1", { ready: false, unmet: [{ name: "services", reason: "kubelet" }] }) }),
      "Ready",
      "False",
      "UnmetConditions",
    ],
    ["it is to be changed", observedLab({}, { steps: [stepFor("cp-1")] }), "Drifted", "True", "StepsPending"],
    ["another is to be changed", observedLab({}, { steps: [stepFor("w-1")] }), "Drifted", "False", "AsDeclared"],
    [
      "its etcd is not well",
      observedLab({ "cp-1": running("cp-1", { etcd: { ...etcdDown, state: "running" } }) }),
      "EtcdHealthy",
      "False",
      "Unhealthy",
    ],
    ["its node counts for nothing", observedLab({}, { kubernetes: false }), "Ready", "True", "TalosRunning"],
  ])("%s: %#", (_name, look, type, status, reason) => {
    const finding = findingsOf(look, now).machines["cp-1"]?.find((candidate) => candidate.type === type);
    expect(finding).toMatchObject({ status, reason });
  });

  test("workers have no etcd to tell of", () => {
    expect(findingsOf(observedLab(), now).machines["w-1"]?.map(({ type }) => type)).not.toContain("EtcdHealthy");
  });
});

describe("the time of a transition", () => {
  const well = findingsOf(observedLab(), now);
  const silent = findingsOf(observedLab({ "w-1": unreachable }), now);
  const later = new Date("2026-11-16T13:00:00Z");
  const since = (conditions: ReturnType<typeof withTransitions>, type: string) =>
    conditions.cluster.find((condition) => condition.type === type)?.lastTransitionTime;

  test("stays while the status stays, and moves with it", () => {
    const first = withTransitions(well, undefined, now);
    expect(since(first, "Ready")).toBe("2026-11-16T12:00:00Z");
    expect(withTransitions(well, first, later)).toEqual(first);
    const second = withTransitions(silent, first, later);
    expect(since(second, "Ready")).toBe("2026-11-16T13:00:00Z");
    expect(since(second, "EtcdHealthy")).toBe("2026-11-16T12:00:00Z");
  });

  test("outlives the process in a file; what is no record is none", () => {
    const first = withTransitions(well, undefined, now);
    expect(parseConditions(encodeConditions(first))).toEqual(first);
    expect(parseConditions("{")).toBeUndefined();
    expect(parseConditions('{"v":2}')).toBeUndefined();
  });
});
