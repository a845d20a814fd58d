// SPDX-License-Identifier: Apache-2.0
import { type ClusterSpec, desiredCluster, type MachineSpec } from "../engine/index.ts";
import { type Environment, machinesOf, patchFilesOf } from "../model/index.ts";
import type { MachineConfig, MachineType } from "../talos/config/index.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import { contractOf } from "../talos/version/index.ts";
import { environmentSpec, type MachineAddress } from "./cluster-spec.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { metalMachines } from "./metal-machines.ts";
import { openPatchFiles } from "./patch-files.ts";

export interface RenderedMachine {
  readonly name: string;
  readonly role: MachineType;
  readonly config: MachineConfig;
}

/** The endpoint of configs that no machine gets: what is compared does not depend on it. */
const anyEndpoint = "https://192.0.2.1:6443";

/** The config of every machine of an environment as a deploy would write it, but with throwaway secrets and addresses. */
export async function renderedMachines(
  { root, environment, context }: EnvironmentOnDisk,
  secrets: SecretsBundle,
  changed: ReadonlyMap<string, string> = new Map(),
): Promise<readonly RenderedMachine[]> {
  const { cluster } = environment;
  const files = await openPatchFiles(patchFilesOf(cluster), contractOf(cluster), root, context.env, changed);
  const addresses = await placeholders({ root, environment, context });
  const spec = { ...environmentSpec(environment, addresses, [], files), endpoint: anyEndpoint };
  return render(spec, secrets);
}

function render(spec: ClusterSpec, secrets: SecretsBundle): readonly RenderedMachine[] {
  // Workers of another environment's cluster are rendered beside a control plane that is not theirs.
  const standIn: MachineSpec = { name: "control-plane", role: "controlplane", address: "192.0.2.1" };
  const isComplete = spec.machines.some(({ role }) => role === "controlplane");
  const machines = isComplete ? spec.machines : [standIn, ...spec.machines];
  return desiredCluster({ ...spec, machines }, secrets)
    .machines.filter(({ name }) => spec.machines.some((machine) => machine.name === name))
    .map(({ name, role, config }) => ({ name, role, config }));
}

/** Where the machines would be, with the patches that their infrastructure needs as far as the file tells them. */
export async function placeholders(place: EnvironmentOnDisk): Promise<ReadonlyMap<string, MachineAddress>> {
  if (place.environment.kind === "metal") return metalMachines.find(place);
  return new Map(machinesOf(place.environment).map(({ name }) => [name, { address: `${name}.invalid` }]));
}

/** The environment as it would be without any patch of a person. */
export function withoutPatches<E extends Environment>(environment: E): E {
  const none = { all: [], controlPlane: [], worker: [], machines: {} };
  return {
    ...environment,
    cluster: { ...environment.cluster, patches: none, patchFiles: [] },
    controlPlane: environment.controlPlane && { ...environment.controlPlane, patches: [] },
    workers: environment.workers.map((pool) => ({ ...pool, patches: [] })),
  };
}
