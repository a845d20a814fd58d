// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { randomUuid } from "../machine/chance.ts";
import { emitAll } from "../machine/events.ts";
import { faultOf, hasFault, spend } from "../machine/fault.ts";
import { isHealthy, type Wipe } from "../machine/life.ts";
import { readNodeConfig } from "../machine/node-config.ts";
import { releaseOfImage } from "../machine/release.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import { type Disk, type EventBody, type Machine, mapMachines, without } from "../machine/world.ts";
import { configOf, ensureCluster } from "./membership.ts";

/** Takes machines through firmware, install, shutdown and back as their time comes. */
export const power: Controller = (world, moment) => {
  const taken: string[] = [];
  const next = mapMachines(world, (machine) => {
    const stepped = step(machine, moment);
    const { config } = stepped.disk;
    if (config !== undefined && machine.disk.config === undefined) taken.push(config);
    return stepped;
  });
  return taken.reduce(ensureCluster, next);
};

function step(machine: Machine, moment: Moment): Machine {
  const { life } = machine;
  switch (life.stage) {
    case "starting":
      return life.until <= moment.now ? boot(machine, moment) : machine;
    case "installing":
      return life.until <= moment.now ? finishInstall(machine, moment) : machine;
    case "stopping":
      if (life.servicesUntil !== undefined) {
        return life.servicesUntil <= moment.now ? stopServices(machine, moment.now) : machine;
      }
      return life.until <= moment.now && life.leaveEtcd !== true ? powerDown(machine, moment) : machine;
    default:
      return machine;
  }
}

/** Everything in memory is gone and the boot id is new; `off` instead when the machine is fated to stay down. */
export function restart(machine: Machine, moment: Moment, duration = moment.timings.start): Machine {
  const cold = clearMemory(machine);
  const fate = faultOf(machine.faults, "never-back", moment.now);
  if (fate !== undefined) return { ...cold, life: { stage: "off" }, faults: spend(machine.faults, fate) };
  return {
    ...cold,
    bootId: randomUuid(moment.entropy),
    bootedAt: moment.now,
    life: { stage: "starting", until: moment.now + duration },
  };
}

/** A machine without power. */
export function switchOff(machine: Machine): Machine {
  return { ...clearMemory(machine), life: { stage: "off" } };
}

function clearMemory(machine: Machine): Machine {
  const bare = without(machine, "activeConfig", "tryUntil", "staticPodsAt");
  return { ...bare, services: {}, stopped: [], components: {}, events: [] };
}

function boot(machine: Machine, moment: Moment): Machine {
  const { now } = moment;
  const { disk } = machine;
  const broken = disk.firstBoot === true ? faultOf(machine.faults, "bad-boot", now) : undefined;
  if (broken !== undefined) {
    // A/B: the new system did not come up, so the boot loader takes the previous one.
    const back = disk.previous === undefined ? without(disk, "firstBoot") : swapSystems(disk);
    return restart({ ...machine, disk: back, faults: spend(machine.faults, broken) }, moment);
  }
  const talosVersion = disk.installed ?? machine.imageVersion;
  const started = { ...machine, disk: without(disk, "firstBoot"), talosVersion };
  const initialized = emitAll(started, now, [
    { kind: "sequence", sequence: "initialize", action: "START" },
    { kind: "sequence", sequence: "initialize", action: "STOP" },
  ]);
  if (disk.config === undefined && machine.userData !== undefined)
    return takeConfig(initialized, machine.userData, moment);
  if (disk.config === undefined) {
    const waiting: Machine = { ...initialized, life: { stage: "maintenance" } };
    return emitAll(waiting, now, [
      { kind: "sequence", sequence: "boot", action: "START" },
      { kind: "task", task: "runningMaintenance", action: "START" },
    ]);
  }
  return startBoot({ ...initialized, activeConfig: disk.config }, now);
}

/** A machine without a config gets one: it installs itself, unless it is installed, and boots. */
export function takeConfig(machine: Machine, config: string, { now, timings }: Moment): Machine {
  const configured: Machine = { ...machine, disk: { ...machine.disk, config } };
  if (machine.disk.installed !== undefined)
    return startBoot({ ...configured, activeConfig: config, services: {} }, now);
  return emitAll({ ...configured, life: { stage: "installing", until: now + timings.install }, services: {} }, now, [
    { kind: "sequence", sequence: "install", action: "START" },
    { kind: "phase", phase: "install", action: "START" },
  ]);
}

/** The boot sequence of a machine that has its config. */
function startBoot(machine: Machine, now: number): Machine {
  return emitAll({ ...machine, life: { stage: "booting", since: now } }, now, [
    { kind: "sequence", sequence: "boot", action: "START" },
    { kind: "phase", phase: "startEverything", action: "START" },
    { kind: "task", task: "startAllServices", action: "START" },
  ]);
}

/** The one disk that a simulated machine has. */
const systemDisk = "/dev/sda";

function finishInstall(machine: Machine, moment: Moment): Machine {
  const config = machine.disk.config === undefined ? undefined : readNodeConfig(machine.disk.config);
  const disk = config?.installDisk ?? systemDisk;
  const full = hasFault(machine, "disk-full", moment.now);
  if (disk !== systemDisk || full) {
    // The config was never saved, because there is no system on disk to save it to: the machine starts over.
    const message = full
      ? "failed to install: no space left on device"
      : `failed to install: stat ${disk}: no such file or directory`;
    const body = { kind: "sequence", sequence: "install", action: "NOOP", error: { code: "FATAL", message } } as const;
    return restart(emitAll({ ...machine, disk: without(machine.disk, "config") }, moment.now, [body]), moment);
  }
  const image = config?.images.installer;
  const installed = (image === undefined ? undefined : releaseOfImage(image)) ?? machine.imageVersion;
  const written: Disk = { ...machine.disk, ...given({ installed, installedImage: image }) };
  const done = emitAll({ ...machine, disk: written }, moment.now, [
    { kind: "phase", phase: "install", action: "STOP" },
    { kind: "sequence", sequence: "install", action: "STOP" },
    { kind: "sequence", sequence: "reboot", action: "START" },
  ]);
  return restart(done, moment);
}

function stopServices(machine: Machine, now: number): Machine {
  const { life } = machine;
  if (life.stage !== "stopping") return machine;
  const bodies: readonly EventBody[] = [
    { kind: "task", task: "stopAllPods", action: "STOP" },
    { kind: "phase", phase: "cleanup", action: "STOP" },
    { kind: "phase", phase: "stopServices", action: "START" },
    { kind: "task", task: "stopAllServices", action: "START" },
  ];
  // However late we are: talosctl waits for these events, so the connection outlives them as long as it should.
  const until = now + life.until - (life.servicesUntil ?? life.until);
  return emitAll({ ...machine, life: { ...without(life, "servicesUntil"), until } }, now, bodies, life.actor);
}

function powerDown(machine: Machine, moment: Moment): Machine {
  const { life } = machine;
  if (life.stage !== "stopping") return machine;
  const wiped = life.wipe === undefined ? machine.disk : wipe(machine.disk, life.wipe);
  const disk = life.install === undefined ? wiped : install(wiped, life.install.release, life.install.image);
  const down = emitAll(
    { ...machine, disk },
    moment.now,
    [{ kind: "sequence", sequence: life.sequence, action: "STOP" }],
    life.actor,
  );
  if (life.next === "off") return switchOff(down);
  return restart(down, moment, life.sequence === "reset" ? moment.timings.start : moment.timings.reboot);
}

/** Puts a release beside the running one and makes the boot loader start it. */
export function install(disk: Disk, release: string, image: string): Disk {
  return { ...swapSystems(disk), installed: release, installedImage: image, firstBoot: true };
}

/** Makes the boot loader start the other half of the A/B pair. */
export function swapSystems(disk: Disk): Disk {
  const { installed, installedImage, previous, previousImage, ...rest } = without(disk, "firstBoot");
  return given({
    ...rest,
    installed: previous,
    installedImage: previousImage,
    previous: installed,
    previousImage: installedImage,
  });
}

function wipe(disk: Disk, what: Wipe): Disk {
  if (what.everything) return { meta: {} };
  let next: Disk = disk;
  if (what.state) next = without(next, "config");
  if (what.ephemeral) next = without(next, "etcd", "recovery");
  if (what.meta) next = { ...next, meta: {} };
  return next;
}

/** Ends the boot sequence once all services are up: a control plane therefore boots until it has an etcd. */
export const bootCompletion: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage !== "booting" || !servicesUp(machine)) return machine;
    return emitAll({ ...machine, life: { stage: "running", since: now } }, now, [
      { kind: "task", task: "startAllServices", action: "STOP" },
      { kind: "phase", phase: "startEverything", action: "STOP" },
      { kind: "sequence", sequence: "boot", action: "STOP" },
    ]);
  });

function servicesUp(machine: Machine): boolean {
  const needed =
    configOf(machine)?.type === "controlplane" ? ["apid", "trustd", "kubelet", "etcd"] : ["apid", "kubelet"];
  return needed.every((id) => isHealthy(machine.services[id]));
}
