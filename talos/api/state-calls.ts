// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { plainText } from "../plain-text.ts";
import { parseYamlDocument, toPlainData } from "../yaml/index.ts";
import { DiskSpec, VolumeStatusSpec } from "./gen/resource/definitions/block.ts";
import { MemberSpec } from "./gen/resource/definitions/cluster.ts";
import { MachineConfigSpec } from "./gen/resource/definitions/config.ts";
import {
  BlockVolumePhase,
  BlockVolumeType,
  MachineType,
  RuntimeMachineStage,
} from "./gen/resource/definitions/enums.ts";
import { ManifestSpec, StaticPodStatusSpec } from "./gen/resource/definitions/k8s.ts";
import { AddressStatusSpec, HostnameStatusSpec } from "./gen/resource/definitions/network.ts";
import { DiagnosticSpec, MachineStatusSpec, MetaKeySpec } from "./gen/resource/definitions/runtime.ts";
import { MachineText } from "./machine-text.ts";
import { resourceCalls } from "./resource-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

const stages = {
  [RuntimeMachineStage.MACHINE_STAGE_UNKNOWN]: "unknown",
  [RuntimeMachineStage.MACHINE_STAGE_BOOTING]: "booting",
  [RuntimeMachineStage.MACHINE_STAGE_INSTALLING]: "installing",
  [RuntimeMachineStage.MACHINE_STAGE_MAINTENANCE]: "maintenance",
  [RuntimeMachineStage.MACHINE_STAGE_RUNNING]: "running",
  [RuntimeMachineStage.MACHINE_STAGE_REBOOTING]: "rebooting",
  [RuntimeMachineStage.MACHINE_STAGE_SHUTTING_DOWN]: "shutting down",
  [RuntimeMachineStage.MACHINE_STAGE_RESETTING]: "resetting",
  [RuntimeMachineStage.MACHINE_STAGE_UPGRADING]: "upgrading",
} as const;

export type Stage = (typeof stages)[RuntimeMachineStage];

export interface MachineStatus {
  readonly stage: Stage;
  readonly ready: boolean;
  readonly unmet: readonly { readonly name: string; readonly reason: string }[];
  /** Another one after every boot. */
  readonly bootMark: string;
}

export interface ClusterMember {
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly controlPlane: boolean;
}

export interface Disk {
  readonly name: string;
  /** For people, such as `20 GB`. */
  readonly size: string;
  readonly model: string;
}

/** Questions about a machine's state, answered from its resources. */
export function stateCalls(transport: Transport) {
  const resources = resourceCalls(transport);
  const list = async <Spec>(
    { decode }: { decode(input: MachineText): Spec },
    [namespace, type]: readonly [namespace: string, type: string],
    options: CallOptions,
  ): Promise<{ readonly id: string; readonly spec: Spec }[]> => {
    const found = await resources.listResources(namespace, type, options);
    return found.map(({ id, spec }) => ({ id, spec: decode(new MachineText(spec)) }));
  };
  return {
    async machineStatus(options: CallOptions = {}): Promise<MachineStatus> {
      const found = await resources.getResource("runtime", "MachineStatuses.runtime.talos.dev", "machine", options);
      if (found === undefined) return { stage: "unknown", ready: false, unmet: [], bootMark: "" };
      const { stage, status } = MachineStatusSpec.decode(new MachineText(found.spec));
      return {
        stage: stages[stage] ?? "unknown",
        ready: status?.ready ?? false,
        unmet: status?.unmetConditions ?? [],
        bootMark: found.created,
      };
    },
    /** The active machine config, YAML. Secret; needs the admin role. Undefined before the first one. */
    async machineConfig(options: CallOptions = {}): Promise<string | undefined> {
      const found = await resources.getResource("config", "MachineConfigs.config.talos.dev", "v1alpha1", options);
      return found === undefined
        ? undefined
        : Buffer.from(MachineConfigSpec.decode(found.spec).yamlMarshalled).toString();
    },
    async clusterMembers(options: CallOptions = {}): Promise<ClusterMember[]> {
      const found = await list(MemberSpec, ["cluster", "Members.cluster.talos.dev"], options);
      return found.map(({ spec: { hostname, addresses, machineType } }) => ({
        hostname,
        addresses: addresses.map(({ ip }) => formatIp(ip)),
        controlPlane: machineType === MachineType.TYPE_CONTROL_PLANE || machineType === MachineType.TYPE_INIT,
      }));
    },
    /** The name that the machine goes by now, whoever gave it; undefined while it has none. */
    async hostname(options: CallOptions = {}): Promise<string | undefined> {
      const found = await resources.getResource("network", "HostnameStatuses.net.talos.dev", "hostname", options);
      return (found && HostnameStatusSpec.decode(new MachineText(found.spec)).hostname) || undefined;
    },
    /** Names of the control plane's static pods, with namespace, and whether each is ready. */
    async staticPods(options: CallOptions = {}): Promise<{ readonly name: string; readonly ready: boolean }[]> {
      const found = await list(StaticPodStatusSpec, ["k8s", "StaticPodStatuses.kubernetes.talos.dev"], options);
      return found.map(({ id, spec }) => ({ name: id, ready: isPodReady(spec.podStatus) }));
    },
    /** The Kubernetes objects that a control plane renders from its config, in the order of application. */
    async bootstrapManifests(options: CallOptions = {}): Promise<Readonly<Record<string, unknown>>[]> {
      const found = await resources.listResources("controlplane", "Manifests.kubernetes.talos.dev", options);
      return found
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .flatMap(({ spec }) => ManifestSpec.decode(spec).items.map(({ object }) => object ?? {}));
    },
    /** Id of the image factory's schematic that the running system was made from; undefined when it has none. */
    async schematic(options: CallOptions = {}): Promise<string | undefined> {
      const found = await resources.listResources("runtime", "ExtensionStatuses.runtime.talos.dev", options);
      return found
        .map(({ yaml }) => extension.parse(toPlainData(parseYamlDocument(yaml, "an extension's status"))).metadata)
        .find(({ name }) => name === "schematic")?.version;
    },
    /** Every name of every disk that can be written to. */
    async diskNames(options: CallOptions = {}): Promise<string[]> {
      const found = await list(DiskSpec, ["runtime", "Disks.block.talos.dev"], options);
      return found.flatMap(({ spec: { devPath, symlinks, readonly, cdrom } }) =>
        readonly || cdrom ? [] : [devPath, ...symlinks],
      );
    },
    /** The disks, also those that can't be written to. */
    async disks(options: CallOptions = {}): Promise<Disk[]> {
      const found = await list(DiskSpec, ["runtime", "Disks.block.talos.dev"], options);
      return found.map(({ spec: { devPath, prettySize, model } }) => ({ name: devPath, size: prettySize, model }));
    },
    /** Every address with its prefix length and link, such as `10.5.0.2/24 on eth0`, the link's own included. */
    async addresses(options: CallOptions = {}): Promise<string[]> {
      const found = await list(AddressStatusSpec, ["network", "AddressStatuses.net.talos.dev"], options);
      return found.map(
        ({ spec: { address, linkName } }) =>
          `${formatIp(address?.ip ?? new Uint8Array())}/${address?.prefixLength ?? 0} on ${linkName}`,
      );
    },
    /** Bytes of every partition that Talos has made, by its volume's name. */
    async volumeSizes(options: CallOptions = {}): Promise<ReadonlyMap<string, bigint>> {
      const found = await list(VolumeStatusSpec, ["runtime", "VolumeStatuses.block.talos.dev"], options);
      const made = found.filter(({ spec }) => spec.type === BlockVolumeType.VOLUME_TYPE_PARTITION && spec.size > 0n);
      return new Map(made.map(({ id, spec }) => [id, spec.size]));
    },
    /** What keeps volumes from being ready, by the volume's name: those that have failed. */
    async volumeErrors(options: CallOptions = {}): Promise<ReadonlyMap<string, string>> {
      const found = await list(VolumeStatusSpec, ["runtime", "VolumeStatuses.block.talos.dev"], options);
      const failed = found.filter(({ spec }) => spec.phase === BlockVolumePhase.VOLUME_PHASE_FAILED);
      return new Map(failed.map(({ id, spec }) => [id, plainText(spec.errorMessage)]));
    },
    /** The values in the META partition by their keys, in decimal. */
    async metaValues(options: CallOptions = {}): Promise<Readonly<Record<string, string>>> {
      const found = await list(MetaKeySpec, ["runtime", "MetaKeys.runtime.talos.dev"], options);
      return Object.fromEntries(found.map(({ id, spec }) => [String(Number(id)), spec.value]));
    },
    /** Problems that the machine itself has found, one sentence each. */
    async diagnostics(options: CallOptions = {}): Promise<string[]> {
      const found = await list(DiagnosticSpec, ["runtime", "Diagnostics.runtime.talos.dev"], options);
      return found.map(({ spec }) => spec.message);
    },
  };
}

/** YAML has escapes of its own. */
const plain = z.string().transform(plainText);
const extension = z.object({ metadata: z.object({ name: plain.default(""), version: plain.default("") }) });

const podStatus = z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) });

function isPodReady(status: unknown): boolean {
  const { data } = podStatus.safeParse(status);
  return data?.conditions.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

export type StateCalls = ReturnType<typeof stateCalls>;

/** Text of an address that the API sends as 4 or 16 bytes; empty for none. */
function formatIp(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) return "";
  const address = ipaddr.fromByteArray([...bytes]);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
