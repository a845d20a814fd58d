// SPDX-License-Identifier: Apache-2.0

import type { Machines, MachineTarget, talosMachines } from "../../engine/index.ts";
import type { CallOptions, Credentials, TalosClient } from "../../talos/api/index.ts";
import { expiryOf } from "../../talos/client-file.ts";
import type { Role } from "../../talos/config/index.ts";
import { endpointAt } from "../../talos/endpoint-at.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { Client } from "./client.ts";

export interface TalosconfigRequest {
  readonly clusterName: string;
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
  readonly roles?: readonly Role[];
  /** Milliseconds. */
  readonly ttl?: number;
}

/** Machines that a talosconfig is about. One by default: some commands of talosctl refuse a context with several. */
export function nodesOf(given: {
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[] | null;
}): readonly string[] {
  return given.nodes ?? given.endpoints.slice(0, 1);
}

/** A talosconfig with fresh credentials, and the credentials by themselves. */
export async function issueTalosconfig(
  secrets: SecretsBundle,
  request: TalosconfigRequest,
): Promise<{ readonly text: string; readonly credentials: Credentials }> {
  const [{ encodeTalosconfig, generateTalosconfig }, { systemClock, systemEntropy }] = await Promise.all([
    import("../../talos/config/index.ts"),
    import("../../talos/clock.ts"),
  ]);
  const config = generateTalosconfig(secrets, { ...request, clock: systemClock, entropy: systemEntropy });
  const credentials = config.contexts.get(request.clusterName)?.credentials;
  if (credentials === undefined) throw new Error("a talosconfig was made without credentials");
  return { text: encodeTalosconfig(config), credentials };
}

/** Machines as the engine reaches them, for the length of some work. */
export async function withMachines<T>(
  options: Parameters<typeof talosMachines>[0],
  work: (machines: Machines) => Promise<T>,
): Promise<T> {
  const { talosMachines } = await import("../../engine/index.ts");
  const machines = talosMachines(options);
  try {
    return await work(machines);
  } finally {
    machines.close();
  }
}

/** The control planes at these addresses, as the engine reaches them. */
export async function withControlPlanes<T>(
  client: Client,
  endpoints: readonly string[],
  work: (machines: Machines, controlPlanes: readonly MachineTarget[]) => Promise<T>,
): Promise<T> {
  const { parseAddress } = await import("../../talos/api/index.ts");
  const controlPlanes = endpoints.map((address) => ({ name: address, role: "controlplane", address }) as const);
  const desired = { endpoint: endpointAt(parseAddress(endpoints[0] ?? "").host), machines: controlPlanes };
  const secrets = await client.secrets.of(null);
  return withMachines({ desired, secrets }, (machines) => work(machines, controlPlanes));
}

/** The admin kubeconfig, from the first control plane that gives it out. */
export async function fetchKubeconfig(
  client: Client,
  endpoints: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { kubeconfigFrom } = await import("../../engine/index.ts");
  return withControlPlanes(client, endpoints, (machines, controlPlanes) =>
    kubeconfigFrom({ desired: { machines: controlPlanes }, machines, signal }),
  );
}

/** When the first of these certificates expires, as RFC 3339. */
export function firstExpiry(certificates: readonly string[]): string {
  const times = certificates.map((pem) => expiryOf(pem).getTime());
  return new Date(Math.min(...times)).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Asks one machine as an admin; the connection ends with the answer. */
export type Ask = <T>(address: string, question: (client: TalosClient) => Promise<T>) => Promise<T>;

/** Admin access to single machines for the length of one operation; through `endpoints`, where there are any. */
export async function adminOf(secrets: SecretsBundle, endpoints: readonly string[] | null = null): Promise<Ask> {
  const [{ connect, connectThrough, parseAddress }, { talosCredentials }] = await Promise.all([
    import("../../talos/api/index.ts"),
    import("../../engine/index.ts"),
  ]);
  const credentials = talosCredentials(secrets);
  return async (address, question) => {
    const authentication = { kind: "mtls", credentials } as const;
    const client =
      endpoints === null
        ? connect(address, authentication)
        : connectThrough(endpoints, parseAddress(address).host, authentication);
    try {
      return await question(client);
    } finally {
      client.close();
    }
  };
}

export interface KnownMachine {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  readonly address: string;
}

export interface KnownMachines {
  readonly machines: readonly KnownMachine[];
  /** False without discovery: machines then know of nobody but the members of their etcd. */
  readonly all: boolean;
}

/** The machines of a cluster, as one of them knows them. Nobody is known where neither discovery nor etcd tells. */
export async function knownMachines(machine: TalosClient, options: CallOptions): Promise<KnownMachines> {
  const announced = (await machine.clusterMembers(options)).map(
    ({ hostname, addresses, controlPlane }): KnownMachine => {
      return { name: hostname, role: controlPlane ? "controlplane" : "worker", address: addresses[0] ?? hostname };
    },
  );
  if (announced.length > 0) return { machines: announced, all: true };
  const members = await machine.etcdMemberList({ ...options, local: true }).catch((error: unknown) => {
    if (options.signal?.aborted) throw error;
    return [];
  });
  return {
    machines: members.map(({ hostname, peerUrls }) => ({
      name: hostname,
      role: "controlplane",
      address: hostOf(peerUrls[0]) ?? hostname,
    })),
    all: false,
  };
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : undefined;
}
