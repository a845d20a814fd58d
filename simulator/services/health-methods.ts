// SPDX-License-Identifier: Apache-2.0

import { type ClusterServiceService, HealthCheckProgress } from "../../talos/api/gen/cluster/cluster.ts";
import { configOf, hostnameOf, kubernetesServes, machinesOf } from "../controllers/membership.ts";
import { isHealthy as podIsHealthy } from "../kubernetes/eviction.ts";
import { isNodeReady, isUnschedulable } from "../kubernetes/node.ts";
import { listObjects } from "../kubernetes/store.ts";
import { CallError } from "../machine/call-error.ts";
import { diagnosticsOf } from "../machine/diagnostics.ts";
import { isServing } from "../machine/etcd.ts";
import { hardware, minimumDisk, minimumMemory } from "../machine/hardware.ts";
import { isHealthy } from "../machine/life.ts";
import { serverModeOf } from "../machine/listening-ports.ts";
import { staticPodNames } from "../machine/node-config.ts";
import type { Cluster, KubernetesObject, Machine, World } from "../machine/world.ts";
import { controlPlaneOnly, everyChange, type Handlers, millisecondsOf } from "./method.ts";

interface Subject {
  readonly world: World;
  readonly cluster: Cluster | undefined;
  readonly controlPlanes: readonly Machine[];
  readonly machines: readonly Machine[];
  readonly now: number;
  readonly cniName: string;
}

/** Undefined when it holds, `SKIP`, or what is wrong. */
type Check = (subject: Subject) => string | undefined;

const skip = "SKIP";
const every = (
  machines: readonly Machine[],
  test: (machine: Machine) => boolean,
  wrong: (names: string) => string,
): string | undefined => {
  const bad = machines.filter((machine) => !test(machine)).map((machine) => machine.address);
  return bad.length === 0 ? undefined : wrong(bad.join(", "));
};

/** A check of each machine, or of each control plane. */
const each =
  (
    test: (machine: Machine, now: number) => boolean,
    wrong: (names: string) => string,
    of: "machines" | "controlPlanes" = "machines",
  ): Check =>
  ({ [of]: machines, now }) =>
    every(machines, (machine) => test(machine, now), wrong);

const service = (id: string): Check =>
  each(
    (machine) => isHealthy(machine.services[id]),
    (names) => `some nodes (${names}): service "${id}" is not healthy`,
    "controlPlanes",
  );

const none = (bad: readonly KubernetesObject[], wrong: string): string | undefined =>
  bad.length === 0 ? undefined : `${wrong}: [${bad.map((object) => object.metadata.name).join(" ")}]`;

const withKubernetes =
  (check: (nodes: readonly KubernetesObject[], subject: Subject) => string | undefined): Check =>
  (subject) => {
    const key = subject.cluster?.key;
    if (key === undefined || !kubernetesServes(subject.world, key, subject.now))
      return "the Kubernetes API does not answer";
    return check(listObjects(subject.cluster, "nodes"), subject);
  };

const podsReady = (labelled: string): Check =>
  withKubernetes((_, { cluster }) => {
    const pods = listObjects(cluster, "pods", "kube-system").filter(
      (pod) => pod.metadata.labels?.["k8s-app"] === labelled,
    );
    if (pods.length === 0) return skip;
    return none(
      pods.filter((pod) => !podIsHealthy(pod)),
      "some pods are not ready",
    );
  });

/** The checks of `talosctl health`, in their order. */
const checks: readonly (readonly [name: string, check: Check])[] = [
  ["etcd to be healthy", service("etcd")],
  [
    "etcd members to be consistent across nodes",
    ({ world, cluster }) => (isServing(world, cluster) ? undefined : "etcd has no leader"),
  ],
  [
    "etcd members to be control plane nodes",
    ({ cluster, controlPlanes }) => {
      const known = new Set(controlPlanes.map((machine) => machine.address));
      const strange = (cluster?.etcd?.members ?? []).filter((member) => !known.has(member.address));
      return strange.length === 0
        ? undefined
        : `etcd member IPs [${strange.map((m) => m.address).join(" ")}] are not control plane nodes`;
    },
  ],
  [
    "apid to be ready",
    each(
      (machine) => serverModeOf(machine) === "secure",
      (names) => `apid does not answer on ${names}`,
    ),
  ],
  [
    "all nodes memory sizes",
    each(
      (machine) => hardware.memoryKibibytes * 1_024 >= minimumMemory(configOf(machine)?.type ?? "worker"),
      (names) => `nodes ${names} have less memory than Talos needs`,
    ),
  ],
  [
    "all nodes disk sizes",
    each(
      (machine) => machine.disk.installed !== undefined && hardware.diskBytes >= minimumDisk,
      (names) => `nodes ${names} have no disk, or one that is too small`,
    ),
  ],
  [
    "no diagnostics",
    each(
      (machine) => diagnosticsOf(machine, configOf(machine)).length === 0,
      (names) => `active diagnostics on ${names}: see talosctl get diagnostics`,
    ),
  ],
  ["kubelet to be healthy", service("kubelet")],
  [
    "all nodes to finish boot sequence",
    each(
      (machine) => machine.life.stage === "running",
      (names) => `nodes ${names} are not running yet`,
    ),
  ],
  [
    "all k8s nodes to report",
    withKubernetes((nodes, { machines }) => {
      const known = new Set(nodes.map((node) => node.metadata.name));
      return every(
        machines,
        (machine) => known.has(hostnameOf(machine)),
        (names) => `can't find expected node with IPs [${names}]`,
      );
    }),
  ],
  [
    "all control plane static pods to be running",
    each(
      (machine, now) => (machine.staticPodsAt ?? Number.POSITIVE_INFINITY) <= now,
      (names) => `missing static pods on nodes ${names}`,
      "controlPlanes",
    ),
  ],
  [
    "all control plane components to be ready",
    (subject) => staticPodNames.map((name) => podsReady(name)(subject)).find((result) => result !== undefined),
  ],
  [
    "all k8s nodes to report ready",
    withKubernetes((nodes, { cniName }) => {
      if (cniName === "none") return skip;
      return none(
        nodes.filter((node) => !isNodeReady(node)),
        "some nodes are not ready",
      );
    }),
  ],
  ["kube-proxy to report ready", podsReady("kube-proxy")],
  ["coredns to report ready", podsReady("kube-dns")],
  [
    "all k8s nodes to report schedulable",
    withKubernetes((nodes) => none(nodes.filter(isUnschedulable), "some nodes are not schedulable")),
  ],
];

export const healthMethods: Handlers<typeof ClusterServiceService> = {
  async *healthCheck(call, request) {
    const config = controlPlaneOnly(call, "cluster health check");
    const given = [...(request.clusterInfo?.controlPlaneNodes ?? []), ...(request.clusterInfo?.workerNodes ?? [])];
    const subject = (): Subject => {
      const { world, moment } = call.simulation;
      const all = machinesOf(world, config.clusterKey);
      const machines =
        given.length === 0 ? all : Object.values(world.machines).filter((machine) => given.includes(machine.address));
      const controlPlanes = machines.filter((machine) => configOf(machine)?.type === "controlplane");
      return {
        world,
        cluster: world.clusters[config.clusterKey],
        controlPlanes,
        machines,
        now: moment.now,
        cniName: config.cniName,
      };
    };
    const nodes = subject()
      .machines.map((machine) => `"${machine.address}"`)
      .sort();
    yield say(`discovered nodes: [${nodes.join(" ")}]`);
    const deadline = call.simulation.moment.now + (millisecondsOf(request.waitTimeout) || 20 * 60_000);
    const expiry = new AbortController();
    const cancel = call.simulation.scheduler.at(deadline, () => expiry.abort());
    const bounded = { ...call, signal: AbortSignal.any([call.signal, expiry.signal]) };
    try {
      for (const [name, check] of checks) {
        yield say(`waiting for ${name}: ...`);
        let last = "...";
        let passed = false;
        for await (const _ of everyChange(bounded)) {
          const result = check(subject()) ?? "OK";
          if (result !== last) yield say(`waiting for ${name}: ${result}`);
          last = result;
          passed = result === "OK" || result === skip;
          if (passed) break;
        }
        if (!passed) throw new CallError("DeadlineExceeded", last === "..." ? "context deadline exceeded" : last);
      }
    } finally {
      cancel();
    }
  },
};

function say(message: string): HealthCheckProgress {
  return HealthCheckProgress.fromPartial({ message });
}
