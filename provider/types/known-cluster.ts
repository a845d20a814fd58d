// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "../../engine/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { DiagnosticError } from "../framework/index.ts";
import { type Ask, knownMachines } from "./access.ts";
import { reasonOf } from "./translate-error.ts";

export interface KnownCluster {
  /** The cluster with every machine that the teller knows, without their configs. */
  readonly cluster: DesiredCluster;
  /** Host names of the members of etcd; none where its own etcd does not answer. */
  readonly etcdMembers: readonly string[];
  readonly role: "controlplane" | "worker";
  /** The teller's own host name. */
  readonly self: string;
}

const deadline = 10_000;

/** A cluster as one of its machines knows it. Without discovery that is itself and the members of etcd. */
export async function clusterAsKnownBy(
  teller: string,
  ask: Ask,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<KnownCluster> {
  const [{ withoutConfig }, { readMachineFacts }, { TalosVersion }, { caFingerprint }] = await Promise.all([
    import("../../engine/index.ts"),
    import("../../talos/config/index.ts"),
    import("../../talos/version/index.ts"),
    import("../../talos/secrets/index.ts"),
  ]);
  const options = { signal, deadline };
  const [config, known, version, inEtcd] = await ask(teller, (client) =>
    Promise.all([
      client.machineConfig(options),
      knownMachines(client, options),
      client.version(options),
      // The etcd of the one that is asked may be down; discovery then has to do.
      client.etcdMemberList({ ...options, local: true }).catch(() => []),
    ]),
  );
  const facts = readMachineFacts(config ?? "");
  const talosVersion = TalosVersion.parse(version.tag);
  const machines = known.machines.map((machine) => ({ ...machine, ...withoutConfig }));
  return {
    role: facts.type,
    self: facts.hostname ?? known.machines.find(({ address }) => address === teller)?.name ?? teller,
    etcdMembers: inEtcd.map(({ hostname }) => hostname),
    cluster: {
      name: facts.clusterName,
      endpoint: facts.endpoint,
      configSource: "api",
      talosVersion,
      contract: talosVersion.contract,
      kubernetesVersion: facts.kubernetesVersion,
      trustOnFirstUse: false,
      nodesBecomeReady: true,
      machines: machines.sort((a, b) => (a.name < b.name ? -1 : 1)),
      leaving: [],
      caFingerprint: caFingerprint(secrets),
    },
  };
}

/** Asks one control plane after the other until one answers. Throws with the reason of each when none does. */
export async function firstAnswer<T>(
  endpoints: readonly string[],
  signal: AbortSignal,
  ask: (address: string) => Promise<T>,
): Promise<T> {
  const reasons: string[] = [];
  for (const address of endpoints) {
    try {
      return await ask(address);
    } catch (error) {
      if (signal.aborted) throw error;
      reasons.push(`${address}: ${reasonOf(error)}`);
    }
  }
  throw new DiagnosticError({ summary: "No control plane answers", detail: reasons.join("\n") });
}
