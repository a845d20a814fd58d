// SPDX-License-Identifier: Apache-2.0
import { connect, connectEndpoints, connectThrough, parseAddress, type TalosClient } from "../../talos/api/index.ts";
import { type Clock, type Entropy, systemClock, systemEntropy } from "../../talos/clock.ts";
import type { MachineConfig } from "../../talos/config/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import { TalosError } from "../../talos/errors.ts";
import { type SecretsBundle, trustedCas } from "../../talos/secrets/index.ts";
import { undefinedIf } from "../failures.ts";
import { kubernetesOver } from "../kubernetes/index.ts";
import type { Machines, MachineTarget } from "../machines.ts";
import type { MachineState } from "../observed.ts";
import { untrusted } from "../plan/first-contact.ts";
import { kubernetesCredentials, talosCredentials } from "./credentials.ts";
import { inspectMachine, inspectThrough, machineHealth } from "./inspect.ts";
import { machineErrors } from "./service-errors.ts";
import { connectControlPlanes } from "./through-control-planes.ts";

/** Where a cluster's machines and its Kubernetes answer. */
export interface Whereabouts {
  /** URL of the Kubernetes API. */
  readonly endpoint: string;
  readonly talosEndpoints?: readonly string[];
  /** As in the desired cluster. @default false */
  readonly trustOnFirstUse?: boolean;
  readonly machines: readonly MachineTarget[];
}

export interface TalosMachinesOptions {
  readonly desired: Whereabouts;
  readonly secrets: SecretsBundle;
  /**
   * Nothing is done to the machines, and all are expected to have their configs: each is asked at once, workers through
   * the control planes, its certificate is looked at only if that fails, and its boots are not told apart. @default false
   */
  readonly onlyLook?: boolean;
  readonly clock?: Clock;
  readonly entropy?: Entropy;
}

/** The real machines, over the Talos API and the Kubernetes API. One connection per machine for the whole run. */
export function talosMachines(options: TalosMachinesOptions): Machines {
  const { desired, secrets } = options;
  const endpoints = desired.talosEndpoints;
  const issuing = { clock: options.clock ?? systemClock, entropy: options.entropy ?? systemEntropy };
  const credentials = talosCredentials(secrets, issuing);
  const authentication = { kind: "mtls", credentials } as const;
  const shared = endpoints === undefined ? undefined : connectEndpoints(endpoints, authentication);
  const clients = new Map<string, TalosClient>();
  /** Machines that answered to our credentials the last time. */
  const known = new Set<string>();
  const onlyLook = options.onlyLook ?? false;
  if (onlyLook) for (const { address } of desired.machines) known.add(address);
  const controlPlanes =
    onlyLook && endpoints === undefined ? connectControlPlanes(desired.machines, authentication) : undefined;
  const planes = desired.machines.filter(({ role }) => role === "controlplane").map(({ address }) => address);
  /** How machines of auto scaling groups are reached: their addresses are the nodes' own, which may be private. */
  let throughPlanes = shared;
  const passedTo = (address: string) => {
    throughPlanes ??= connectEndpoints(planes, authentication);
    return throughPlanes.machine(parseAddress(address).host);
  };
  const clientOf = ({ address, scalingPool }: MachineTarget): TalosClient => {
    const known = clients.get(address);
    if (known !== undefined) return known;
    const isPassedOn = shared !== undefined || scalingPool !== undefined;
    const client = isPassedOn
      ? passedTo(address)
      : (controlPlanes?.itself(address) ?? connect(address, authentication));
    clients.set(address, client);
    return client;
  };
  const kubernetes = kubernetesOver(
    {
      // Machines that are reached through endpoints have no way to their own addresses.
      servers: endpoints === undefined ? [...controlPlaneServers(desired), desired.endpoint] : [desired.endpoint],
      ca: trustedCas(secrets, "k8s"),
      ...kubernetesCredentials(secrets, issuing),
    },
    desired.endpoint,
  );
  const call = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  /** The active configs as they were last seen: whoever waits asks again and again, and reads each once. */
  const configs = new Map<string, MachineConfig>();
  const ask = async (machine: MachineTarget, signal?: AbortSignal): Promise<MachineState> => {
    const passed = await controlPlanes?.inspect(machine, signal);
    if (passed !== undefined) return passed;
    if (endpoints !== undefined || machine.scalingPool !== undefined)
      return inspectThrough(machine, { client: clientOf(machine), onlyLook }, (endpoints ?? planes).length, signal);
    const { ca } = credentials;
    const now = () => issuing.clock.now();
    const context = { client: clientOf(machine), ca, known: known.has(machine.address), onlyLook, now };
    const state = await inspectMachine(machine, context, signal);
    if (state.kind === "configured") known.add(machine.address);
    else known.delete(machine.address);
    return state;
  };
  return {
    kubernetes,
    async inspect(machine, signal) {
      const state = await ask(machine, signal);
      if (state.kind !== "configured" || state.config === undefined) return state;
      const last = configs.get(machine.address);
      const config = last?.text === state.config.text ? last : state.config;
      configs.set(machine.address, config);
      return { ...state, config };
    },
    async install(machine, config, signal) {
      if (endpoints !== undefined || machine.scalingPool !== undefined) throw noFirstContact(machine);
      const client = connect(machine.address, { kind: "maintenance", ...trust(machine, desired) });
      try {
        return await client.applyConfiguration(config.text, call(signal));
      } finally {
        client.close();
      }
    },
    async changeConfig(machine, config, effect, signal) {
      const mode = effect === "reboot" ? "auto" : "no-reboot";
      const reply = await clientOf(machine)
        .applyConfiguration(config.text, { mode, ...call(signal) })
        .catch(withoutDiff);
      return reply.mode === "reboot" ? "reboot" : "no-reboot";
    },
    async writeMeta(machine, key, value, signal) {
      const client = clientOf(machine);
      if (value !== "") return client.metaWrite(key, value, call(signal));
      // Gone already is what we want.
      await client.metaDelete(key, call(signal)).catch(undefinedIf("not-found"));
    },
    bootstrap: (machine, signal) => clientOf(machine).bootstrap(call(signal)),
    async forfeitLeadership(machine, signal) {
      await clientOf(machine).etcdForfeitLeadership(call(signal));
    },
    leaveEtcd: (machine, signal) => clientOf(machine).etcdLeave(call(signal)),
    removeEtcdMember: (via, memberId, signal) => clientOf(via).etcdRemoveMember(memberId, call(signal)),
    async reset(machine, { graceful, reboot }, signal) {
      await clientOf(machine).reset({ graceful, reboot, ...call(signal) });
    },
    async wipeData(machine, signal) {
      await clientOf(machine).reset({ graceful: false, reboot: true, partitions: ["EPHEMERAL"], ...call(signal) });
    },
    async restore(machine, snapshot, signal) {
      const client = clientOf(machine);
      await client.etcdRecover(snapshot, call(signal));
      await client.bootstrap({ recoverEtcd: true, ...call(signal) });
    },
    pullImage: (machine, { image, namespace }, signal) => clientOf(machine).pullImage(image, namespace, call(signal)),
    async upgrade(machine, image, signal) {
      const client = clientOf(machine);
      try {
        await client.upgrade(image, call(signal));
      } catch (error) {
        if (!(error instanceof TalosError) || error.code !== "unimplemented") throw error;
        // Talos up to 1.12 does the whole upgrade, reboot included, by itself.
        await client.legacyUpgrade(image, call(signal));
        return;
      }
      await client.reboot(call(signal));
    },
    rollback: (machine, signal) => clientOf(machine).rollback(call(signal)),
    async reboot(machine, signal) {
      await clientOf(machine).reboot(call(signal));
    },
    async shutdown(machine, signal) {
      await clientOf(machine).shutdown(call(signal));
    },
    async clockOffset(machine, signal) {
      const before = issuing.clock.now().getTime();
      const theirs = await clientOf(machine).time(call(signal)).catch(undefinedIf("unimplemented"));
      const after = issuing.clock.now().getTime();
      // Somewhere on the way; nothing finer than the time of the call can be said.
      return theirs === undefined ? undefined : Math.round(theirs.getTime() - (before + after) / 2);
    },
    bootstrapManifests: (machine, signal) => clientOf(machine).bootstrapManifests(call(signal)),
    health: (machine, signal) => machineHealth(machine, clientOf(machine), signal),
    async serviceErrors(machine, signal) {
      const client = clientOf(machine);
      const options = { deadline: 2000, ...call(signal) };
      const [services, volumes] = await Promise.all([
        client.serviceList(options),
        client.volumeErrors(options).catch(undefinedIf("unimplemented")),
      ]);
      return machineErrors(services, volumes ?? new Map());
    },
    kubeconfig: (machine, signal) => clientOf(machine).kubeconfig(call(signal)),
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
      throughPlanes?.close();
      controlPlanes?.close();
      kubernetes.close();
    },
  };
}

/** A connection of its own that may look at everything but secrets, and change nothing. */
export function readerOf(
  { desired, secrets }: Pick<TalosMachinesOptions, "desired" | "secrets">,
  { address }: Pick<MachineTarget, "address">,
): TalosClient {
  const credentials = talosCredentials(secrets, undefined, ["os:reader"]);
  const authentication = { kind: "mtls", credentials } as const;
  if (desired.talosEndpoints === undefined) return connect(address, authentication);
  return connectThrough(desired.talosEndpoints, parseAddress(address).host, authentication);
}

/** Talos ends its refusal of a config with a diff of the whole, secrets included. */
function withoutDiff(error: unknown): never {
  const { code, message, node } = TalosError.from(error);
  const [said = ""] = message.split("\ndiff:");
  if (said === message) throw error;
  throw new TalosError(code, said, node === undefined ? {} : { node });
}

function controlPlaneServers({ machines }: Whereabouts): string[] {
  return machines
    .filter(({ role }) => role === "controlplane")
    .map(({ address }) => endpointAt(parseAddress(address).host));
}

function noFirstContact({ name }: MachineTarget): TalosError {
  return new TalosError(
    "invalid-input",
    `${name} has no config of this cluster, and an endpoint can't pass on its first one`,
    {
      node: name,
      hint: "Give the machine its config as user data when it is made, or reach it at its own address, without Talos endpoints. If it has a config already, it is one with other secrets.",
    },
  );
}

function trust({ name, fingerprint }: MachineTarget, { trustOnFirstUse = false }: Whereabouts) {
  if (fingerprint !== undefined) return { fingerprints: [fingerprint] };
  if (trustOnFirstUse) return { trustOnFirstUse: true } as const;
  const { message, hint } = untrusted(name);
  throw new TalosError("invalid-input", message, { node: name, hint });
}
