// SPDX-License-Identifier: Apache-2.0
import type { CallOptions, TalosClient } from "../../talos/api/index.ts";

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
