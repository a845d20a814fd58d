// SPDX-License-Identifier: Apache-2.0
import { argumentsOf, clusterSettings, machineSettings, settingsIn } from "../../../model/settings/index.ts";
import { DiagnosticError, type ImportRequest, type Operation } from "../../framework/index.ts";
import { adminOf, knownMachines } from "../access.ts";
import type { Client } from "../client.ts";
import { unmarkCreating } from "../project-notes.ts";
import { unsetOf } from "../setting-attributes.ts";
import type { ClusterState } from "./attributes.ts";

const deadline = 10_000;

/**
 * A running cluster as a state, found out from one of its control planes: its address is what the user types. What the
 * machines can't tell (patches, fingerprints of first contact) is left out; a refresh shows where configs differ.
 */
export async function importCluster(request: ImportRequest<Client>): Promise<Partial<ClusterState>> {
  const state = await clusterFoundBy(request.id, request);
  // Whatever an attempt to create one of this name has left: this one is complete.
  await unmarkCreating(request.client, state.name ?? "");
  return state;
}

/** The same while Terraform plans: nothing is written. */
export async function clusterFoundBy(
  address: string,
  { client, signal, diagnostics }: Operation<Client>,
): Promise<Partial<ClusterState>> {
  const [{ detectContract, MachineConfig, machineFacts }, { caFingerprint }, { TalosVersion }] = await Promise.all([
    import("../../../talos/config/index.ts"),
    import("../../../talos/secrets/index.ts"),
    import("../../../talos/version/index.ts"),
  ]);
  const secrets = await client.secrets.of(null);
  const ask = await adminOf(secrets);
  const options = { signal, deadline };
  const [text, found, version] = await ask(address, (machine) =>
    Promise.all([machine.machineConfig(options), knownMachines(machine, options), machine.version(options)]),
  );
  if (text === undefined) throw unusable(address, "it has no config");
  const config = new MachineConfig(text, address);
  const facts = machineFacts(config);
  if (facts.type !== "controlplane") throw unusable(address, "it is a worker");
  if (found.machines.length === 0) throw unusable(address, "it knows of no machine, for its etcd does not answer");
  if (!found.all)
    diagnostics.warning({
      summary: "Workers were not found",
      detail:
        "Without discovery machines know nothing of each other, but for the members of etcd. The first plan shows the workers of the configuration as new; its apply leaves those alone that are part of the cluster already.",
    });
  const untold = unsetOf(machineSettings);
  const machines = found.machines.map(({ name, ...machine }) => [name, { ...untold, ...machine }] as const);
  // Whether an installer is the usual one, only a plan can tell.
  const shown = { ...settingsIn(clusterSettings, { ...facts }), installImage: undefined };
  return {
    ...argumentsOf(clusterSettings, shown),
    name: facts.clusterName,
    endpoint: facts.endpoint,
    talos_version: version.tag,
    config_contract: detectContract([config], TalosVersion.parse(version.tag), secrets).toString(),
    kubernetes_version: facts.kubernetesVersion.replace(/^v/, ""),
    machines: Object.fromEntries(machines) as ClusterState["machines"],
    on_destroy: "reset",
    id: facts.clusterName,
    ca_fingerprint: caFingerprint(secrets),
    patch_file_hashes: {},
    steps: [],
    changes: {},
    drift: [],
  };
}

function unusable(address: string, reason: string): DiagnosticError {
  return new DiagnosticError({
    summary: "Not a control plane of this cluster",
    detail: `${address}: ${reason}. Give the address of one of the cluster's control planes.`,
  });
}
