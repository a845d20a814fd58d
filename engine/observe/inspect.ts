// SPDX-License-Identifier: Apache-2.0
import {
  connect,
  type Probe,
  parseAddress,
  probe,
  type ServiceState,
  type TalosClient,
} from "../../talos/api/index.ts";
import { MachineConfig, machineFacts, observedRules } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { oneLine } from "../../talos/plain-text.ts";
import { undefinedIf, unreachable } from "../failures.ts";
import type { MachineHealth, MachineTarget, ServiceHealth } from "../machines.ts";
import { type ConfiguredMachine, type MachineEtcd, type MachineState, schematicOf } from "../observed.ts";
import { lastError, runsSince } from "./service-errors.ts";

const deadline = 5000;

/** How a machine is asked. */
export interface Asking {
  /** Milliseconds for each answer. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

export interface InspectContext {
  /** A client with our credentials. */
  readonly client: TalosClient;
  /** PEM of our Talos CA. */
  readonly ca: string;
  /** It answered to our credentials the last time. */
  readonly known: boolean;
  /** Nothing is done to it: its boots need not be told apart, and all questions are asked at once. */
  readonly onlyLook: boolean;
  /** Our clock. */
  now(): Date;
}

/** Looks at one machine: a known one is asked at once, of any other first the certificate is looked at. */
export async function inspectMachine(
  machine: MachineTarget,
  context: InspectContext,
  signal?: AbortSignal,
): Promise<MachineState> {
  const { ca, known, now } = context;
  const options = asking(signal);
  try {
    if (known) return await configuredState(machine, context, options);
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code === "canceled") throw ours;
    if (ours.code === "deadline-exceeded") return { kind: "unreachable", reason: oneLine(ours.message) };
  }
  try {
    const seen = await probe(machine.address, { ca, ...options });
    if (!seen.signedByCa) return await strangerState(machine, seen, options);
    return certificateState(machine, seen, now()) ?? (await configuredState(machine, context, options));
  } catch (error) {
    return unreachable(error);
  }
}

/** Looks at a machine without the secrets of any cluster: it is in maintenance mode, foreign or unreachable. */
export async function inspectWithoutSecrets(machine: MachineTarget, signal?: AbortSignal): Promise<MachineState> {
  const options = asking(signal);
  try {
    return await strangerState(machine, await probe(machine.address, options), options);
  } catch (error) {
    return unreachable(error);
  }
}

/** What a control plane says when it passes a call on to a machine that does not have the cluster's certificates. */
const strange = /certificate signed by unknown authority/;

/**
 * Looks at a machine through endpoints: at most once through each of them. A machine without a config, or with another
 * cluster's, shows a certificate that no control plane accepts; it counts as one that waits for its first config.
 */
export async function inspectThrough(
  machine: MachineTarget,
  context: Pick<InspectContext, "client" | "onlyLook">,
  endpoints: number,
  signal?: AbortSignal,
): Promise<MachineState> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await configuredState(machine, context, asking(signal));
    } catch (error) {
      const ours = TalosError.from(error);
      if (ours.code === "canceled") throw ours;
      if (strange.test(ours.message)) return { kind: "maintenance", fingerprint: machine.fingerprint ?? "" };
      if (!ours.retryable || attempt >= endpoints) return { kind: "unreachable", reason: oneLine(ours.message) };
    }
  }
}

/** What a machine with a config of ours says of itself. Throws when it does not answer, or not to us. */
export async function configuredState(
  machine: MachineTarget,
  { client, onlyLook }: Pick<InspectContext, "client" | "onlyLook">,
  options: Asking,
): Promise<ConfiguredMachine> {
  const asked = client.machineStatus(options);
  // One question alone first for those who wait for it: until it answers, the others would only add to its load.
  if (!onlyLook) await asked;
  const [status, version, config, bootId, etcd, schematic, meta] = await Promise.all([
    asked,
    client.version(options),
    client.machineConfig(options),
    onlyLook ? undefined : client.read("/proc/sys/kernel/random/boot_id", options).catch(unlessUnreachable),
    machine.role === "controlplane" ? etcdState(client, options) : undefined,
    schematicOf(machine.installImage ?? "") === undefined ? undefined : schematicState(client, options),
    machine.meta === undefined ? undefined : client.metaValues(options).catch(unlessUnreachable),
  ]);
  const active = config === undefined ? undefined : new MachineConfig(config, "active config", observedRules);
  const sharedAddress = machine.role === "worker" ? undefined : await sharedAddressOf(client, active, options);
  return {
    kind: "configured",
    stage: status.stage,
    ready: status.ready,
    unmet: status.unmet,
    talosVersion: version.tag,
    ...given({ schematic, config: active, sharedAddress }),
    // In a container the kernel's boot id is the host's; when the machine's own state began tells its boots apart too.
    bootId: `${bootId?.toString().trim() ?? ""}/${status.bootMark}`,
    inContainer: version.platform === "container",
    ...given({ etcd, meta }),
  };
}

/** Most configs share none: only of those that may, the whole is read and the machine asked. */
async function sharedAddressOf(
  client: TalosClient,
  config: MachineConfig | undefined,
  options: Asking,
): Promise<string | undefined> {
  if (config === undefined || !/\bvip:|Layer2VIPConfig/.test(config.text) || config.problem !== undefined)
    return undefined;
  const held = await client.addresses(options).catch(unlessUnreachable);
  const hosts = new Set(held?.map((address) => address.split("/")[0]));
  return machineFacts(config).virtualIps.find((address) => hosts.has(address));
}

/** Empty for a plain system; undefined when the machine does not tell. */
async function schematicState(client: TalosClient, options: Asking): Promise<string | undefined> {
  return client.schematic(options).then((id) => id ?? "", unlessUnreachable);
}

/** Service states in which etcd has not been started: it waits to be bootstrapped or to find members to join. */
const beforeStart: ReadonlySet<string> = new Set(["", "Initialized", "Preparing", "Waiting", "Starting"]);

async function etcdState(client: TalosClient, options: Asking): Promise<MachineEtcd> {
  const service = (await client.serviceList(options)).find(({ id }) => id === "etcd");
  if (service === undefined || beforeStart.has(service.state)) {
    // After a reboot a member passes through the same states as one that has never run; its data tells them apart.
    const files = await client.listDirectory("/var/lib/etcd", options).catch(unlessUnreachable);
    return { state: files?.includes("member") ? "down" : "waiting", healthy: false, members: [] };
  }
  if (service.state !== "Running") return { state: "down", healthy: false, members: [] };
  try {
    const [members, status] = await Promise.all([
      client.etcdMemberList({ ...options, local: true }),
      client.etcdStatus(options),
    ]);
    return {
      state: "running",
      healthy: service.healthy && status.errors.length === 0 && status.leaderId !== "0",
      memberId: status.memberId,
      leaderId: status.leaderId,
      members: members.map(({ id, hostname, peerUrls, learner }) => ({ id, hostname, peerUrls, learner })),
    };
  } catch (error) {
    if (error instanceof TalosError && error.code === "canceled") throw error;
    return { state: "down", healthy: false, members: [] };
  }
}

/** Not of our CA: a machine without a config, or another cluster's. */
async function strangerState(
  machine: MachineTarget,
  { certificate, fingerprint }: Probe,
  options: Asking,
): Promise<MachineState> {
  // Reading the stage gives nothing away, so any certificate will do here; sending a config is another matter.
  const stranger = connect(machine.address, { kind: "maintenance", certificate });
  try {
    const { stage } = await stranger.machineStatus(options);
    if (stage !== "maintenance") return { kind: "unreachable", reason: `it is ${stage}`, onItsWay: true };
    const [disks, version] = await Promise.all([
      stranger.diskNames(options).catch(unlessUnreachable),
      stranger.version(options).catch(unlessUnreachable),
    ]);
    return {
      kind: "maintenance",
      fingerprint,
      // A container has no disks and needs none.
      ...given({ talosVersion: version?.tag, disks: version?.platform === "container" ? undefined : disks }),
    };
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code !== "permission-denied") throw ours;
    // Between two looks a machine may have got its own certificate: whoever it was is gone, and it is asked again.
    const again = await probe(machine.address, options);
    if (again.fingerprint !== fingerprint)
      return { kind: "unreachable", reason: "it has just got another certificate", onItsWay: true };
    return { kind: "foreign", reason: oneLine(ours.message) };
  } finally {
    stranger.close();
  }
}

function asking(signal: AbortSignal | undefined): Asking {
  return { deadline, ...given({ signal }) };
}

/** For questions that not every machine answers. */
function unlessUnreachable(error: unknown): undefined {
  const ours = TalosError.from(error);
  if (ours.retryable || ours.code === "canceled") throw ours;
  return undefined;
}

type Shown = Pick<Probe, "validFrom" | "validTo" | "names" | "namesHost">;

/** What keeps us from accepting a certificate that our CA has signed; undefined when nothing does. */
export function certificateState({ name, address }: MachineTarget, shown: Shown, now: Date): MachineState | undefined {
  const [early, late] = [shown.validFrom.getTime() - now.getTime(), now.getTime() - shown.validTo.getTime()];
  if (early > 0 || late > 0) {
    // Machines make their certificates themselves, from the moment that their own clock shows.
    const skew = early > 0 ? `${describeSkew(early)} ahead of` : `${describeSkew(late)} behind`;
    const span = `${shown.validFrom.toISOString()} to ${shown.validTo.toISOString()}`;
    return {
      kind: "unreachable",
      reason: `its certificate is valid from ${span}, and here it is ${now.toISOString()}: its clock is at least ${skew} ours`,
      certificate: {
        kind: "clock",
        hint: `Set the clock of whichever is wrong, ${name} or this computer; check that ${name} reaches its time servers (machine.time.servers).`,
      },
    };
  }
  if (shown.namesHost) return undefined;
  const { host } = parseAddress(address);
  return {
    kind: "unreachable",
    reason: `its certificate is for ${shown.names.join(", ")}, not for ${host}`,
    certificate: {
      kind: "address",
      hint: `Add ${host} to machine.certSANs of ${name}, or reach it by one of the addresses in its certificate.`,
    },
  };
}

function describeSkew(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Older machines do not know every question; what they cannot tell is not held against them. */
const unknown = undefinedIf("unimplemented");

/** Asks a running machine everything that the health checks want to know, all at once. */
export async function machineHealth(
  machine: MachineTarget,
  client: TalosClient,
  signal?: AbortSignal,
): Promise<MachineHealth> {
  const options = signal === undefined ? {} : { signal };
  const [version, services, memory, volumes, diagnostics, staticPods, containers] = await Promise.all([
    client.version(options),
    client.serviceList(options),
    client.memoryTotal(options).catch(unknown),
    client.volumeSizes(options).catch(unknown),
    client.diagnostics(options).catch(unknown),
    machine.role === "controlplane" ? client.staticPods(options) : [],
    client.podContainers(options).catch(unknown),
  ]);
  return {
    services: new Map(services.map((service) => [service.id, serviceHealth(service)])),
    ...given({ memory, containers: containers && new Set(containers) }),
    volumes: volumes ?? new Map(),
    inContainer: version.platform === "container",
    diagnostics: diagnostics ?? [],
    staticPods,
  };
}

function serviceHealth(service: ServiceState): ServiceHealth {
  const { state, healthy, message } = service;
  return { state, healthy, message: lastError(service)?.message ?? message, ...given({ since: runsSince(service) }) };
}
