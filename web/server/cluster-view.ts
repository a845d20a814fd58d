// SPDX-License-Identifier: Apache-2.0
import { creationSteps, type HealthReport, inReadingOrder, machineView } from "../../engine/index.ts";
import { controlPlanePool, type Environment, listedMachinesOf } from "../../model/index.ts";
import { type ClusterObservation, type Conditions, etcdFacts, isGood, type Observed } from "../../watch/index.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";
import type { CertificateRow, ClusterView, Condition, EtcdView, MachineRow, OperationView } from "../shared/wire.ts";
import { differencesOf } from "./machine-detail.ts";
import { plannedStep } from "./operation-view.ts";

/** What the web console observes of a cluster beyond its conditions. */
export interface ConsoleObservation extends ClusterObservation {
  readonly cluster: DeployedCluster;
  readonly health: HealthReport;
}

/** What is known without asking the cluster. */
export type Surroundings = Pick<ClusterView, "backups" | "simulated" | "obstacle">;

/** A cluster that was observed. */
export function observedView(
  { environment, observation, conditions, at }: Observed<ConsoleObservation>,
  surroundings: Surroundings,
): ClusterView {
  const { observed, steps, certificates, health, cluster } = observation;
  const { desired, absent, secrets } = cluster;
  const failed = health.checks.find(({ state }) => state === "failed");
  return {
    ...emptyView(environment),
    ...surroundings,
    endpoint: desired.endpoint,
    state: health.healthy ? "healthy" : "unhealthy",
    note: failed === undefined ? null : `${failed.name}: ${failed.reason ?? "not met"}`,
    seenAt: at.toISOString(),
    machines: machineRows(observation),
    conditions: conditionRows(conditions),
    checks: health.checks.map(({ name, state, reason }) => ({ name, state, reason: reason ?? null })),
    etcd: etcdRows(observation),
    pending: [...creationSteps(absent), ...steps.map(plannedStep)],
    differences: differencesOf(desired, observed, steps, secrets),
    certificates: certificateRows(
      certificates.filter(({ renewable }) => renewable),
      at,
    ),
  };
}

/** A cluster that is not deployed: the machines that are created first, where they are created and not only taken in. */
export function undeployedView(environment: Environment, surroundings: Surroundings): ClusterView {
  const created = environment.kind === "metal" ? [] : listedMachinesOf(environment).map(({ name }) => name);
  return { ...emptyView(environment), ...surroundings, pending: creationSteps(created) };
}

/** A cluster of which nothing is known but its file. */
export function emptyView({ name, kind, cluster, controlPlane, workers }: Environment): ClusterView {
  return {
    environment: name,
    kind,
    cluster: cluster.name,
    talosVersion: cluster.talosVersion,
    kubernetesVersion: cluster.kubernetesVersion,
    endpoint: null,
    state: "not deployed",
    note: null,
    seenAt: null,
    machines: [],
    conditions: [],
    checks: [],
    etcd: null,
    pending: [],
    differences: [],
    certificates: [],
    pools: [
      ...(controlPlane === undefined ? [] : [{ name: controlPlanePool, count: controlPlane.count }]),
      ...workers.map((pool) => ({ name: pool.name, count: pool.count })),
    ],
    backups: null,
    simulated: null,
    obstacle: null,
  };
}

function machineRows({ cluster: { desired }, observed }: ConsoleObservation): readonly MachineRow[] {
  return inReadingOrder(desired.machines).map((machine) => {
    const { stage, reason, talosVersion, kubeletVersion, etcd, ...view } = machineView(machine, observed);
    return {
      ...view,
      stage: reason ?? stage,
      talosVersion: talosVersion ?? null,
      kubeletVersion: kubeletVersion ?? null,
      etcd: etcd ?? null,
    };
  });
}

function conditionRows({ cluster }: Conditions): readonly Condition[] {
  return cluster.map((condition) => ({ ...condition, ok: isGood(condition) }));
}

function etcdRows({ observed }: ConsoleObservation): EtcdView | null {
  const facts = etcdFacts(observed);
  return facts === undefined ? null : { ...facts, spare: facts.healthy - facts.quorum };
}

const day = 24 * 60 * 60 * 1000;

function certificateRows(certificates: ClusterObservation["certificates"], now: Date): readonly CertificateRow[] {
  return certificates.map(({ name, expiresAt }) => ({
    name,
    expiresAt: expiresAt.toISOString(),
    daysLeft: Math.floor((expiresAt.getTime() - now.getTime()) / day),
  }));
}

/** Steps during which a machine goes away and comes back. */
const takesAway = /^(?:apply-config|upgrade-talos|reboot|restore-etcd)\/(.+)$/;

/** Operations during which a cluster is not as it will be. */
const changes: ReadonlySet<OperationView["kind"]> = new Set([
  "apply",
  "upgrade",
  "scale",
  "destroy",
  "terraform deploy",
  "terraform destroy",
]);

/**
 * A cluster in the light of what is done to it: one that is being changed has conditions that are not met yet, and a
 * machine that is silent because a step has just made it boot is on its way. Neither is a reason to worry.
 */
export function withWork(cluster: ClusterView, operations: readonly OperationView[]): ClusterView {
  const running = operations.filter(
    ({ environment, endedAt }) => environment === cluster.environment && endedAt === null,
  );
  if (running.length === 0) return cluster;
  const booting = new Set(
    running
      .flatMap(({ steps }) => steps.filter(({ state }) => state === "running"))
      .map(({ id }) => takesAway.exec(id)?.[1]),
  );
  const machines = cluster.machines.map((machine) =>
    machine.health === "unreachable" && booting.has(machine.name)
      ? { ...machine, health: "starting" as const }
      : machine,
  );
  const isChanging = cluster.state === "unhealthy" && running.some(({ kind }) => changes.has(kind));
  return { ...cluster, machines, state: isChanging ? "changing" : cluster.state };
}
