// SPDX-License-Identifier: Apache-2.0
import { etcdMemberOf, hasQuorum } from "../machine/etcd.ts";
import { emit } from "../machine/events.ts";
import { isHealthy, isUp, type ServiceStage, type ServiceState } from "../machine/life.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import { type Machine, mapMachines, type World } from "../machine/world.ts";
import { clusterOf, configOf, failureOf, trustdReachable } from "./membership.ts";

interface Definition {
  readonly id: string;
  readonly after: readonly string[];
  /** @default nothing that it tells of */
  readonly waitsFor?: string;
  /** Its health stays unknown. @default false */
  readonly unchecked?: true;
  /** Also without a config. @default false */
  readonly maintenance?: true;
  /** @default false */
  readonly controlPlaneOnly?: true;
}

/** The services of a machine on metal, with what each waits for. */
const definitions: readonly Definition[] = [
  { id: "machined", after: [], maintenance: true },
  { id: "containerd", after: ["machined"], maintenance: true },
  { id: "auditd", after: ["machined"], maintenance: true },
  { id: "syslogd", after: ["machined"], maintenance: true },
  { id: "udevd", after: ["machined"], maintenance: true },
  { id: "dashboard", after: ["machined"], unchecked: true, maintenance: true },
  {
    id: "apid",
    after: ["containerd"],
    waitsFor: 'service "containerd" to be "up", api certificates',
    maintenance: true,
  },
  {
    id: "trustd",
    after: ["containerd"],
    waitsFor: 'service "containerd" to be "up", time sync, network',
    controlPlaneOnly: true,
  },
  { id: "cri", after: ["containerd"], waitsFor: "network, volume /var/lib/containerd to be mounted" },
  { id: "kubelet", after: ["cri"], waitsFor: 'service "cri" to be "up", time sync, network, nodename' },
  {
    id: "etcd",
    after: ["cri"],
    waitsFor: 'volumes /var/lib, ETCD to be mounted, service "cri" to be "up", time sync, network, etcd spec',
    controlPlaneOnly: true,
  },
];

/** Starts, checks and stops each machine's services. */
export const services: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage === "stopping") {
      return machine.life.servicesUntil === undefined ? stopAll(machine, moment) : machine;
    }
    if (!isUp(machine.life) && machine.life.stage !== "maintenance") return machine;
    return definitions.reduce((next, definition) => tend(world, next, definition, moment), machine);
  });

function tend(world: World, machine: Machine, definition: Definition, moment: Moment): Machine {
  const { id } = definition;
  const config = configOf(machine);
  if (
    machine.life.stage === "maintenance"
      ? !definition.maintenance
      : definition.controlPlaneOnly && config?.type !== "controlplane"
  ) {
    return machine;
  }
  const state = machine.services[id];
  if (machine.stopped.includes(id)) {
    if (state === undefined || state.stage === "Finished") return machine;
    return put(machine, id, finished(state, moment.now), moment.now);
  }
  if (!definition.after.every((other) => isHealthy(machine.services[other]))) return machine;
  if (state?.stage !== "Running") return start(world, machine, definition, moment);
  return checkHealth(world, machine, definition, state, moment);
}

/** Moves a service that does not run toward running, as far as what it waits for allows. */
function start(world: World, machine: Machine, definition: Definition, moment: Moment): Machine {
  const { now } = moment;
  const state = machine.services[definition.id];
  if ((state?.startAt ?? 0) > now) return machine;
  const obstacle = obstacleOf(world, machine, definition.id, now);
  if (obstacle !== undefined) {
    if (state?.stage === obstacle.stage && state.lastMessage === obstacle.message) return machine;
    return put(machine, definition.id, enter(state, obstacle.stage, obstacle.message, now), now);
  }
  const pid = 1_000 + machine.eventCount;
  const steps: [ServiceStage, string][] = [["Starting", "Starting service"]];
  if (definition.waitsFor !== undefined) steps.push(["Waiting", `Waiting for ${definition.waitsFor}`]);
  steps.push(["Preparing", "Running pre state"], ["Preparing", "Creating service runner"]);
  const prepared = steps.reduce<ServiceState | undefined>((s, [stage, text]) => enter(s, stage, text, now), state);
  const started =
    definition.id === "machined"
      ? "Service started as goroutine"
      : `Started task ${definition.id} (PID ${pid}) for container ${definition.id}`;
  const running = enter(prepared, "Running", started, now);
  const healthyAt = now + (definition.id === "etcd" ? moment.timings.etcd : moment.timings.service);
  return put(machine, definition.id, { ...running, health: "unknown", pid, healthyAt }, now);
}

function obstacleOf(
  world: World,
  machine: Machine,
  id: string,
  now: number,
): { stage: ServiceStage; message: string } | undefined {
  const config = configOf(machine);
  const fault = failureOf(machine, id, now);
  if (fault !== undefined) return { stage: "Failed", message: fault.message };
  if (id === "apid" && config?.type === "worker" && !trustdReachable(world, config)) {
    return { stage: "Waiting", message: "Waiting for api certificates" };
  }
  if (id !== "etcd") return undefined;
  if (machine.disk.etcd === undefined) return { stage: "Preparing", message: "Running pre state" };
  const member = etcdMemberOf(clusterOf(world, machine), machine.id);
  if (member?.id !== machine.disk.etcd.memberId) {
    return { stage: "Failed", message: "the member has been permanently removed from the cluster" };
  }
  return undefined;
}

function checkHealth(
  world: World,
  machine: Machine,
  definition: Definition,
  state: ServiceState,
  moment: Moment,
): Machine {
  const { now } = moment;
  if (definition.unchecked || (state.healthyAt ?? 0) > now) return machine;
  if (definition.id === "etcd") {
    const etcd = clusterOf(world, machine)?.etcd;
    const member = etcd?.members.find((candidate) => candidate.id === machine.disk.etcd?.memberId);
    if (etcd === undefined || member === undefined) {
      const message = "the member has been permanently removed from the cluster";
      return put(machine, "etcd", { ...enter(state, "Failed", message, now), health: "unhealthy" }, now);
    }
    if (!hasQuorum(world, etcd)) {
      if (state.health === "unhealthy") return machine;
      const message = "Health check failed: context deadline exceeded";
      return put(machine, "etcd", { ...enter(state, "Running", message, now), health: "unhealthy" }, now);
    }
  }
  if (state.health === "healthy") return machine;
  return put(
    machine,
    definition.id,
    { ...enter(state, "Running", "Health check successful", now), health: "healthy" },
    now,
  );
}

/** Stops a running service; it starts again by itself after a while. */
export function restartService(machine: Machine, id: string, now: number, pause: number): Machine {
  const state = machine.services[id];
  if (state?.stage !== "Running") return machine;
  return put(machine, id, { ...finished(state, now), startAt: now + pause }, now);
}

/** The API and the machine's own daemon stay until the power goes. */
function stopAll(machine: Machine, moment: Moment): Machine {
  return definitions.reduce((next, { id }) => {
    const state = next.services[id];
    if (state === undefined || state.stage === "Finished" || id === "apid" || id === "machined") return next;
    return put(next, id, finished(state, moment.now), moment.now);
  }, machine);
}

function finished(state: ServiceState, now: number): ServiceState {
  return { ...enter(state, "Finished", "Service finished successfully", now), health: "unknown" };
}

/** The state after one more event; only the last events are kept. */
function enter(state: ServiceState | undefined, stage: ServiceStage, message: string, now: number): ServiceState {
  const event = { message, state: stage, at: now };
  if (state === undefined) {
    return { stage, health: "unknown", lastMessage: message, changedAt: now, pid: 0, events: [event] };
  }
  return { ...state, stage, lastMessage: message, changedAt: now, events: [...state.events.slice(-15), event] };
}

function put(machine: Machine, id: string, state: ServiceState, now: number): Machine {
  const next = { ...machine, services: { ...machine.services, [id]: state } };
  const healthy = state.health === "unknown" ? {} : { healthy: state.health === "healthy" };
  return emit(next, now, { kind: "service", service: id, state: state.stage, message: state.lastMessage, ...healthy });
}
