// SPDX-License-Identifier: Apache-2.0
import { type MachineServiceService, RestartResponse } from "../../talos/api/gen/machine/machine.ts";
import {
  ContainersResponse,
  CPUFreqStatsResponse,
  CPUInfoResponse,
  DiskStatsResponse,
  LoadAvgResponse,
  MemoryResponse,
  MountsResponse,
  NetworkDeviceStatsResponse,
  ProcessesResponse,
  StatsResponse,
  SystemStatResponse,
} from "../../talos/api/gen/machine/statistics.ts";
import { clusterOf, hostnameOf } from "../controllers/membership.ts";
import { containerId, isMirror, runsOn } from "../kubernetes/pod.ts";
import { listObjects } from "../kubernetes/store.ts";
import { CallError } from "../machine/call-error.ts";
import { hasFault } from "../machine/fault.ts";
import { hardware } from "../machine/hardware.ts";
import { runningServices } from "../machine/life.ts";
import { type KubernetesObject, type Machine, statusOf, type World } from "../machine/world.ts";
import { answer, type Handlers } from "./method.ts";

const { cores } = hardware;
const kibibytes = { total: BigInt(hardware.memoryKibibytes), free: 6_312_448n, available: 7_212_032n };

/** Seconds since the machine booted: what all counters grow with. */
function uptime(machine: Machine, now: number): number {
  return Math.max(0, Math.floor((now - machine.bootedAt) / 1_000));
}

/** Plausible numbers of a small idle machine; they grow with its uptime and are otherwise fixed. */
export const statisticsMethods: Handlers<typeof MachineServiceService> = {
  memory: answer(MemoryResponse, () => ({
    meminfo: {
      memtotal: kibibytes.total,
      memfree: kibibytes.free,
      memavailable: kibibytes.available,
      buffers: 2_048n,
      cached: 901_120n,
      shmem: 13_312n,
      active: 812_032n,
      inactive: 402_432n,
      slab: 98_304n,
    },
  })),

  loadAvg: answer(LoadAvgResponse, () => ({ load1: 0.12, load5: 0.2, load15: 0.18 })),

  cpuInfo: answer(CPUInfoResponse, () => ({
    cpuInfo: Array.from({ length: cores }, (_, processor) => ({
      processor,
      vendorId: "talosmith",
      modelName: "simulated CPU",
      cpuMhz: 2_400,
      cpuCores: cores,
      siblings: cores,
      coreId: String(processor),
    })),
  })),

  cpuFreqStats: answer(CPUFreqStatsResponse, () => {
    const one = {
      currentFrequency: 2_400_000n,
      minimumFrequency: 800_000n,
      maximumFrequency: 3_200_000n,
      governor: "performance",
    };
    return { cpuFreqStats: Array.from({ length: cores }, () => one) };
  }),

  systemStat: answer(SystemStatResponse, (call) => {
    const machine = call.machine();
    const seconds = uptime(machine, call.simulation.moment.now);
    const cpu = { user: seconds * 0.04, system: seconds * 0.02, idle: seconds * 0.93, iowait: seconds * 0.01 };
    const total = Object.fromEntries(Object.entries(cpu).map(([name, value]) => [name, value * cores]));
    return {
      bootTime: BigInt(Math.floor(machine.bootedAt / 1_000)),
      cpuTotal: total,
      cpu: Array.from({ length: cores }, () => cpu),
      contextSwitches: BigInt(seconds * 4_000),
      processCreated: BigInt(2_000 + seconds * 3),
      processRunning: 1n,
    };
  }),

  processes: answer(ProcessesResponse, (call) => {
    const machine = call.machine();
    const processes = runningServices(machine).map(({ id, pid }) => ({
      pid: id === "machined" ? 1 : pid,
      ppid: id === "machined" ? 0 : 1,
      state: "S",
      threads: 12,
      cpuTime: uptime(machine, call.simulation.moment.now) / 100,
      virtualMemory: 1_294_532_608n,
      residentMemory: 52_428_800n,
      command: id,
      executable: `/usr/bin/${id}`,
      args: id,
    }));
    return { processes };
  }),

  diskStats: answer(DiskStatsResponse, (call) => {
    const seconds = BigInt(uptime(call.machine(), call.simulation.moment.now));
    const disk = {
      readCompleted: 4_000n + seconds,
      readSectors: 120_000n,
      writeCompleted: 1_000n + seconds * 2n,
      writeSectors: 60_000n,
    };
    return { total: { ...disk }, devices: [{ name: "sda", ...disk }] };
  }),

  networkDeviceStats: answer(NetworkDeviceStatsResponse, (call) => {
    const seconds = BigInt(uptime(call.machine(), call.simulation.moment.now));
    const traffic = {
      rxBytes: seconds * 9_000n,
      rxPackets: seconds * 20n,
      txBytes: seconds * 7_000n,
      txPackets: seconds * 18n,
    };
    return { total: traffic, devices: [{ name: "eth0", ...traffic }, { name: "lo" }] };
  }),

  mounts: answer(MountsResponse, (call) => {
    const full = hasFault(call.machine(), "disk-full", call.simulation.moment.now);
    const stats = [
      { filesystem: "/dev/sda4", size: 18_766_364_672n, available: full ? 0n : 16_106_127_360n, mountedOn: "/var" },
      { filesystem: "/dev/sda3", size: 104_857_600n, available: 98_566_144n, mountedOn: "/system/state" },
      { filesystem: "tmpfs", size: 67_108_864n, available: 66_060_288n, mountedOn: "/run" },
    ];
    return { stats };
  }),

  containers: answer(ContainersResponse, (call, request) => {
    const containers = containersOf(call.world(), call.machine(), request.namespace);
    return { containers: [...containers] };
  }),

  stats: answer(StatsResponse, (call, request) => {
    const containers = containersOf(call.world(), call.machine(), request.namespace);
    const seconds = BigInt(uptime(call.machine(), call.simulation.moment.now));
    const stats = containers.map(({ namespace, id, podId, name }) => ({
      namespace,
      id,
      podId,
      name,
      memoryUsage: 48_234_496n,
      cpuUsage: seconds * 12_000_000n,
    }));
    return { stats };
  }),

  restart: answer(RestartResponse, (call, { namespace, id }) => {
    const known = containersOf(call.world(), call.machine(), namespace).some((container) => container.id === id);
    if (!known) throw new CallError("Unknown", `container "${id}" not found`);
  }),
};

interface SimulatedContainer {
  readonly namespace: string;
  readonly id: string;
  readonly image: string;
  readonly pid: number;
  readonly status: string;
  readonly podId: string;
  readonly name: string;
  readonly internalId: string;
}

/** Services that Talos runs as containers of its own. */
const systemContainers = ["apid", "trustd"];

/** The containers of one containerd namespace: Talos's own, or those of the pods on this node. */
function containersOf(world: World, machine: Machine, namespace: string): readonly SimulatedContainer[] {
  if (namespace !== "k8s.io") {
    return runningServices(machine)
      .filter(({ id }) => systemContainers.includes(id))
      .map(({ id, pid }) => {
        const image = `talos/${id}`;
        return { namespace, id, image, pid, status: "RUNNING", podId: id, name: id, internalId: id };
      });
  }
  const node = hostnameOf(machine);
  return listObjects(clusterOf(world, machine), "pods").flatMap((pod) => {
    const spec = pod.spec as { nodeName?: string; containers?: readonly { name: string; image: string }[] } | undefined;
    if (spec?.nodeName !== node || !(isMirror(pod) || hasStarted(pod, machine))) return [];
    const podId = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
    return (spec.containers ?? []).map(({ name, image }, index) => ({
      namespace,
      id: `${podId}:${name}`,
      image,
      pid: 3_000 + index,
      status: "CONTAINER_RUNNING",
      podId,
      name,
      internalId: containerId(pod, machine, index),
    }));
  });
}

/** A pod that waits for its node or its image has no containers. */
function hasStarted(pod: KubernetesObject, machine: Machine): boolean {
  return statusOf<{ phase?: string }>(pod).phase === "Running" && runsOn(pod, machine);
}
