// SPDX-License-Identifier: Apache-2.0
import {
  type Authentication,
  apiPort,
  type CallOptions,
  connectEndpoints,
  type Endpoints,
  parseAddress,
  type TalosClient,
  type VersionInfo,
} from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import type { MachineTarget } from "../machines.ts";
import type { ConfiguredMachine } from "../observed.ts";
import { configuredState } from "./inspect.ts";

/** Short: a machine that does not answer through a control plane is asked directly afterwards. */
const deadline = 2000;

/** So many are asked for their versions in one call. Their names travel in its head, and one who is silent delays all. */
const machinesPerCall = 32;

/** Looks at workers through the control planes, which hold connections to them already, instead of through one to each. */
export interface ControlPlaneAccess {
  /** Undefined: look at the machine itself, for it is no such worker, or cannot be seen from here. */
  inspect(machine: MachineTarget, signal?: AbortSignal): Promise<ConfiguredMachine | undefined>;
  /** A control plane itself, over the connection that the others are looked at through. */
  itself(address: string): TalosClient | undefined;
  close(): void;
}

/** Undefined where there is no control plane to look through. */
export function connectControlPlanes(
  machines: readonly MachineTarget[],
  authentication: Authentication & { readonly kind: "mtls" },
): ControlPlaneAccess | undefined {
  const controlPlanes = machines.filter(({ role }) => role === "controlplane").map(({ address }) => address);
  if (controlPlanes.length === 0) return undefined;
  const endpoints = connectEndpoints(controlPlanes, authentication);
  const versions = versionsThrough(endpoints, machines.filter(isSeenFromControlPlanes).map(hostOf));
  let passable = true;
  return {
    async inspect(machine, signal) {
      if (!passable || !isSeenFromControlPlanes(machine)) return undefined;
      const host = hostOf(machine);
      const client = endpoints.machine(host);
      const version = async (options: CallOptions) => (await versions(host, signal)) ?? client.version(options);
      const context = { client: { ...client, version }, onlyLook: true };
      try {
        return await configuredState(machine, context, { deadline, ...given({ signal }) });
      } catch (error) {
        const ours = TalosError.from(error);
        if (ours.code === "canceled") throw ours;
        // Perhaps this worker is down, perhaps control planes know workers by other addresses: do not wait for each.
        if (ours.retryable) passable = false;
        return undefined;
      }
    },
    itself: (address) => endpoints.own[controlPlanes.indexOf(address)],
    close: () => endpoints.close(),
  };
}

/** Control planes pass calls on to the standard port only. */
function isSeenFromControlPlanes({ role, address }: MachineTarget): boolean {
  return role === "worker" && parseAddress(address).port === apiPort;
}

function hostOf({ address }: MachineTarget): string {
  return parseAddress(address).host;
}

/**
 * What the machines run, of many in one call. Of one who does not tell it this way, or whose companion is silent, it is
 * undefined: then it can be asked alone.
 */
function versionsThrough(endpoints: Endpoints, hosts: readonly string[]) {
  const asked: Promise<ReadonlyMap<string, VersionInfo>>[] = [];
  const ask = async (group: number, signal: AbortSignal | undefined) => {
    const through = endpoints.own[group % endpoints.own.length];
    const nodes = hosts.slice(group * machinesPerCall, (group + 1) * machinesPerCall);
    const replies = await through?.versions(nodes, { deadline, ...given({ signal }) }).catch(() => []);
    return new Map(replies?.flatMap((reply) => ("value" in reply ? [[reply.node, reply.value] as const] : [])));
  };
  const groups = new Map(hosts.map((host, index) => [host, Math.floor(index / machinesPerCall)]));
  return async (host: string, signal: AbortSignal | undefined): Promise<VersionInfo | undefined> => {
    const group = groups.get(host);
    if (group === undefined) return undefined;
    asked[group] ??= ask(group, signal);
    return (await asked[group]).get(host);
  };
}
