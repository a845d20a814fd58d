// SPDX-License-Identifier: Apache-2.0

import { machineStatus } from "../controllers/machine-status.ts";
import { diagnosticsOf } from "../machine/diagnostics.ts";
import { kernel } from "../machine/hardware.ts";
import { isUp, runningServices } from "../machine/life.ts";
import { schematicOfImage } from "../machine/release.ts";
import { type Item, only, type Producer } from "./item.ts";

/** What the machine is and how it is doing. */
export const runtimeResources: Readonly<Record<string, Producer>> = {
  "MachineStatuses.runtime.talos.dev": only("machine", ({ world, machine, now }) => {
    const { stage, ready, unmet } = machineStatus(world, machine, now);
    return { stage, status: { ready, unmetConditions: unmet } };
  }),
  "Versions.runtime.talos.dev": only("version", ({ machine }) => ({ name: "Talos", version: machine.talosVersion })),
  "SecurityStates.talos.dev": only("securitystate", () => ({
    secureBoot: false,
    selinuxState: "permissive",
    bootedWithUKI: true,
    moduleSignatureEnforced: true,
  })),
  "PlatformMetadatas.talos.dev": only("platformmetadata", ({ machine }) => ({
    platform: "metal",
    hostname: machine.name,
    instanceId: machine.id,
  })),
  "MetaKeys.runtime.talos.dev": ({ machine }) =>
    Object.entries(machine.disk.meta).map(([id, value]) => ({ id, spec: { value } })),
  "MetaLoads.runtime.talos.dev": () => [{ id: "meta-loaded", spec: { done: true } }],
  "ExtensionStatuses.runtime.talos.dev": ({ machine }) => {
    const version = schematicOfImage(machine.disk.installedImage ?? "");
    if (version === undefined) return [];
    const description = "Virtual extension which specifies the schematic of the image built with Image Factory.";
    const metadata = { name: "schematic", version, author: "Image Factory", description };
    return [{ id: "schematic", spec: { image: "", metadata } }];
  },
  "Diagnostics.runtime.talos.dev": ({ machine, config }) =>
    diagnosticsOf(machine, config).map(({ id, message, details }) => ({ id, spec: { message, details } })),
  "KernelCmdlines.runtime.talos.dev": only("cmdline", () => ({ cmdline: kernel.cmdline })),
  "KernelParamStatuses.runtime.talos.dev": ({ config }) => kernelParams(config?.sysctls ?? {}),
  "DevicesStatuses.runtime.talos.dev": () => [{ id: "devices", spec: { ready: true } }],
  "BootedEntries.talos.dev": ({ machine }) =>
    machine.disk.installed === undefined
      ? []
      : [{ id: "bootedentry", spec: { bootedEntry: `Talos-${machine.talosVersion}.efi` } }],
  "Services.v1alpha1.talos.dev": ({ machine }) =>
    runningServices(machine).map(({ id, health }) => ({
      id,
      spec: { running: true, healthy: health === "healthy", unknown: health === "unknown" },
    })),
  "ServicePIDs.runtime.talos.dev": ({ machine }) =>
    runningServices(machine).map(({ id, pid }) => ({ id, spec: { pid } })),
  "TimeStatuses.v1alpha1.talos.dev": () => [{ id: "node", spec: { synced: true, epoch: 0, syncDisabled: false } }],
  "MachineConfigs.config.talos.dev": ({ machine }) => {
    if (machine.activeConfig === undefined) return [];
    const annotations = { "talos.dev/yaml-spec": "1" };
    const active = { id: "v1alpha1", spec: machine.activeConfig, annotations };
    const { config } = machine.disk;
    return config === undefined ? [active] : [{ id: "persistent", spec: config, annotations }, active];
  },
  "MachineTypes.config.talos.dev": ({ config }) => [{ id: "machine-type", spec: config?.type ?? "unknown" }],
  "UniqueMachineTokens.runtime.talos.dev": () => [],
  "APIServiceConfigs.runtime.talos.dev": only("apid", ({ machine }) => ({
    listenAddress: ":50000",
    nodeRoutingDisabled: !isUp(machine.life),
    readonlyRoleMode: !isUp(machine.life),
    skipVerifyingClientCert: !isUp(machine.life),
  })),
};

/** What Talos sets by itself, and what the kernel has without it. */
const own: Readonly<Record<string, readonly [current: string, standard: string]>> = {
  "fs.aio-max-nr": ["1048576", "65536"],
  "fs.inotify.max_user_instances": ["8192", "128"],
  "kernel.panic": ["10", "0"],
  "kernel.pid_max": ["262144", "32768"],
  "net.ipv4.icmp_echo_ignore_broadcasts": ["1", "1"],
  "net.ipv4.icmp_ignore_bogus_error_responses": ["1", "1"],
  "net.ipv4.ip_forward": ["1", "0"],
  "net.ipv4.ip_local_reserved_ports": ["50000,50001", ""],
  "net.ipv4.tcp_keepalive_intvl": ["60", "75"],
  "net.ipv4.tcp_keepalive_time": ["600", "7200"],
  "net.ipv6.conf.default.accept_ra": ["2", "1"],
  "net.ipv6.conf.default.forwarding": ["1", "0"],
  "vm.overcommit_memory": ["1", "0"],
};

/** The kernels that we stand in for know these subsystems; a parameter of any other is one that they lack. */
const subsystems = /^(abi|crypto|debug|dev|fs|kernel|net|user|vm)\./;

/** Every kernel parameter that Talos or the config sets, as the machine has it now. */
function kernelParams(configured: Readonly<Record<string, string>>): readonly Item[] {
  const names = [...new Set([...Object.keys(own), ...Object.keys(configured)])].sort();
  return names.map((name) => {
    const unsupported = !subsystems.test(name);
    const [current = "", standard = ""] = own[name] ?? [];
    const value = unsupported ? "" : (configured[name] ?? current);
    return { id: `proc.sys.${name}`, spec: { current: value, default: standard, unsupported } };
  });
}
