// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { ContainerDriver } from "./gen/common/common.ts";
import { ApplyConfigurationRequest_Mode, MachineServiceService as service } from "./gen/machine/machine.ts";
import { TimeServiceService as clock } from "./gen/time/time.ts";
import { readKubeconfigArchive } from "./kubeconfig-archive.ts";
import { ask, bytesOf, eachMessage, messagesOf, type NodeReply } from "./replies.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface VersionInfo {
  /** With a leading v. */
  readonly tag: string;
  readonly architecture: string;
  /** Such as metal, nocloud, aws, container. Empty before Talos says. */
  readonly platform: string;
}

const modes = {
  reboot: ApplyConfigurationRequest_Mode.REBOOT,
  auto: ApplyConfigurationRequest_Mode.AUTO,
  "no-reboot": ApplyConfigurationRequest_Mode.NO_REBOOT,
  staged: ApplyConfigurationRequest_Mode.STAGED,
  try: ApplyConfigurationRequest_Mode.TRY,
} as const;

export type ApplyMode = keyof typeof modes;

export interface ApplyOptions extends CallOptions {
  /** @default auto: with a reboot only where the change needs one */
  readonly mode?: ApplyMode;
  readonly dryRun?: boolean;
}

export interface ApplyReply {
  /** What was really done. */
  readonly mode: ApplyMode;
  readonly details: string;
  readonly warnings: readonly string[];
}

export interface BootstrapOptions extends CallOptions {
  readonly recoverEtcd?: boolean;
}

export interface ServiceState {
  readonly id: string;
  readonly state: string;
  readonly healthy: boolean;
  readonly healthUnknown: boolean;
  /** Of the last health check. */
  readonly message: string;
  /** The last ones that the machine has kept, oldest first. */
  readonly events: readonly { readonly state: string; readonly message: string; readonly at: Date }[];
}

/** After which a config in mode try is taken back. */
const tryModeTimeout = { seconds: 60n, nanos: 0 };

/** Sending a large config and validating it on the machine takes longer than a question. */
const applyDeadline = 60_000;

/** The everyday calls of the main service. */
export function machineCalls(transport: Transport) {
  return {
    async version(options: CallOptions = {}): Promise<VersionInfo> {
      return versionOf(await ask(transport, service.version, {}, options));
    },
    /** What the machine's clock shows. */
    async time(options: CallOptions = {}): Promise<Date> {
      return dateOf((await ask(transport, clock.time, {}, options)).localtime);
    },
    /** Asks several machines through this one. */
    async versions(nodes: readonly string[], options: CallOptions = {}): Promise<NodeReply<VersionInfo>[]> {
      const reply = await transport.unary(service.version, {}, { ...options, nodes });
      return eachMessage(reply.messages, transport).map((one) =>
        "error" in one ? one : { node: one.node, value: versionOf(one.value) },
      );
    },
    async applyConfiguration(config: string, options: ApplyOptions = {}): Promise<ApplyReply> {
      const { mode = "auto", dryRun = false, ...call } = options;
      const request = { data: Buffer.from(config), mode: modes[mode], dryRun, tryModeTimeout };
      const message = await ask(transport, service.applyConfiguration, request, { deadline: applyDeadline, ...call });
      const used = (Object.keys(modes) as ApplyMode[]).find((name) => modes[name] === message.mode);
      if (used === undefined) {
        throw new TalosError("internal", `${transport.node}: apply mode ${message.mode} is not known`);
      }
      return { mode: used, details: message.modeDetails, warnings: message.warnings };
    },
    async bootstrap(options: BootstrapOptions = {}): Promise<void> {
      const { recoverEtcd = false, ...call } = options;
      const request = { recoverEtcd, recoverSkipHashCheck: false };
      await ask(transport, service.bootstrap, request, { deadline: 30_000, ...call });
    },
    /** The admin kubeconfig that the machine makes, as text. Secret. */
    async kubeconfig(options: CallOptions = {}): Promise<string> {
      const archive = await bytesOf(transport, service.kubeconfig, {}, { deadline: 30_000, ...options });
      return readKubeconfigArchive(archive, transport.node);
    },
    /** A talosconfig with a client certificate that a control plane makes. Secret. `ttl` in milliseconds. */
    async generateClientConfiguration(
      request: { readonly roles: readonly string[]; readonly ttl: number },
      options: CallOptions = {},
    ): Promise<string> {
      const { roles, ttl } = request;
      const crtTtl = { seconds: BigInt(Math.floor(ttl / 1000)), nanos: (ttl % 1000) * 1_000_000 };
      const reply = await ask(transport, service.generateClientConfiguration, { roles: [...roles], crtTtl }, options);
      return Buffer.from(reply.talosconfig).toString("utf8");
    },
    async serviceList(options: CallOptions = {}): Promise<ServiceState[]> {
      return (await ask(transport, service.serviceList, {}, options)).services.map(({ id, state, health, events }) => ({
        id,
        state,
        healthy: health?.healthy ?? false,
        healthUnknown: health?.unknown ?? true,
        message: health?.lastMessage ?? "",
        events: (events?.events ?? []).map(({ state, msg, ts }) => ({ state, message: msg, at: dateOf(ts) })),
      }));
    },
    /** Ids of the containers of pods that run, as Kubernetes has them without `containerd://`. */
    async podContainers(options: CallOptions = {}): Promise<string[]> {
      const request = { namespace: "k8s.io", driver: ContainerDriver.CRI };
      const { containers } = await ask(transport, service.containers, request, options);
      return containers.filter(({ status }) => status === "CONTAINER_RUNNING").map(({ internalId }) => internalId);
    },
    /** `action`: what is done to the service; returns the machine's sentence about it. */
    async service(id: string, action: "start" | "stop" | "restart", options: CallOptions = {}): Promise<string> {
      const method = { start: service.serviceStart, stop: service.serviceStop, restart: service.serviceRestart }[
        action
      ];
      return (await ask(transport, method, { id }, { deadline: 60_000, ...options })).resp;
    },
    /** Whole content of a file on the machine. */
    async read(path: string, options: CallOptions = {}): Promise<Buffer> {
      return bytesOf(transport, service.read, { path }, { deadline: 30_000, ...options });
    },
    /** Names of what is in a folder of the machine; empty when there is no such folder. */
    async listDirectory(root: string, options: CallOptions = {}): Promise<string[]> {
      const request = { root, recurse: false, recursionDepth: 1, types: [], reportXattrs: false };
      const names: string[] = [];
      for await (const file of messagesOf(transport, service.list, request, { deadline: 10_000, ...options })) {
        if (file.error === "" && file.relativeName !== ".") names.push(file.relativeName || file.name);
      }
      return names;
    },
    /** Bytes of main memory. */
    async memoryTotal(options: CallOptions = {}): Promise<bigint> {
      const { meminfo } = await ask(transport, service.memory, {}, options);
      return (meminfo?.memtotal ?? 0n) * 1024n;
    },
    /** Writes a key of META. Needs a config; the value takes effect when Talos reads it, mostly at the next boot. */
    async metaWrite(key: number, value: string, options: CallOptions = {}): Promise<void> {
      await ask(transport, service.metaWrite, { key, value: Buffer.from(value) }, options);
    },
    /** `not-found` when the key has no value. */
    async metaDelete(key: number, options: CallOptions = {}): Promise<void> {
      await ask(transport, service.metaDelete, { key }, options);
    },
  };
}

function dateOf(stamp: { readonly seconds: bigint; readonly nanos: number } | undefined): Date {
  return new Date(Number(stamp?.seconds ?? 0n) * 1000 + Math.floor((stamp?.nanos ?? 0) / 1_000_000));
}

export type MachineCalls = ReturnType<typeof machineCalls>;

function versionOf(message: {
  version: { tag: string; arch: string } | undefined;
  platform: { name: string } | undefined;
}): VersionInfo {
  return {
    tag: message.version?.tag ?? "",
    architecture: message.version?.arch ?? "",
    platform: message.platform?.name ?? "",
  };
}
