// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  applyCluster,
  type DesiredCluster,
  desiredCluster,
  type EventListener,
  type MachineSpec,
} from "../engine/index.ts";
import { type Environment, machinesOf, patchFilesOf } from "../model/index.ts";
import { endpointAt } from "../talos/endpoint-at.ts";
import { temporaryFolder } from "../talos/process-folder.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import { contractOf } from "../talos/version/index.ts";
import { environmentSpec, type MachineAddress } from "./cluster-spec.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { placeholders } from "./migrate-configs.ts";
import { openPatchFiles } from "./patch-files.ts";
import { emergencyPolicy } from "./rollout.ts";
import { simulatorIn } from "./simulator.ts";

export interface Rehearsal {
  /** Simulated machines that took part. */
  readonly machines: readonly string[];
  /** Those that a deploy reboots for the change. */
  readonly rebooted: readonly string[];
}

const mostControlPlanes = 3;
const mostWorkers = 5;

/**
 * Brings up a small cluster like the environment's in a simulator of its own, with the Talos that it has and the configs
 * of the older contract, then applies those of the newer one. Throws where a machine refuses its config or the cluster
 * is not healthy afterwards. Touches nothing of the real cluster.
 */
export async function rehearseMigration(
  place: EnvironmentOnDisk,
  after: Environment,
  texts: ReadonlyMap<string, string>,
  secrets: SecretsBundle,
  events: EventListener,
): Promise<Rehearsal> {
  const { environment, context } = place;
  const { signal } = context;
  const folder = temporaryFolder("rehearsal");
  const simulator = simulatorIn(join(folder, "simulator"));
  try {
    const addresses = new Map<string, MachineAddress>();
    for (const name of fewMachines(environment)) {
      const { talosVersion } = environment.cluster;
      const { address, fingerprint } = await simulator.createMachine({ name, cluster: "rehearsal", talosVersion });
      addresses.set(name, { address, fingerprint });
    }
    const apply = async (one: Environment, changed: ReadonlyMap<string, string>) => {
      const spec = await specOn({ ...place, environment: one }, addresses, changed);
      const desired: DesiredCluster = desiredCluster(spec, secrets);
      return applyCluster({ desired, secrets, policy: emergencyPolicy(one), events, signal });
    };
    await apply(environment, new Map());
    const { steps } = await apply(after, texts);
    const rebooted = steps.flatMap((step) =>
      step.kind === "reboot" || (step.kind === "apply-config" && step.effect === "reboot") ? [step.machine] : [],
    );
    return { machines: [...addresses.keys()], rebooted: [...new Set(rebooted)] };
  } finally {
    await simulator.shutdown();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Some control planes, and workers of every pool: first those that have patches of their own. */
function fewMachines(environment: Environment): readonly string[] {
  const machines = machinesOf(environment);
  const planes = machines.filter(({ role }) => role === "controlplane").slice(0, mostControlPlanes);
  const first = new Map(machines.map((machine) => [machine.pool, machine.name]).reverse() as [string, string][]);
  const weight = ({ name, pool }: { readonly name: string; readonly pool: string }) =>
    name in environment.cluster.patches.machines ? 0 : first.get(pool) === name ? 1 : 2;
  const workers = machines
    .filter(({ role }) => role === "worker")
    .sort((a, b) => weight(a) - weight(b))
    .slice(0, mostWorkers);
  return [...planes, ...workers].map(({ name }) => name);
}

/** The cluster on simulated machines: what the infrastructure adds to their configs stays, where they are reached does not. */
async function specOn(
  place: EnvironmentOnDisk,
  simulated: ReadonlyMap<string, MachineAddress>,
  changed: ReadonlyMap<string, string>,
) {
  const { root, environment, context } = place;
  const { cluster } = environment;
  const files = await openPatchFiles(patchFilesOf(cluster), contractOf(cluster), root, context.env, changed);
  const real = await placeholders(place);
  const addresses = new Map(
    [...simulated].map(([name, where]) => [name, { ...real.get(name), ...where } as MachineAddress]),
  );
  const spec = environmentSpec(environment, addresses, [], files);
  const first: MachineSpec | undefined = spec.machines.find(({ role }) => role === "controlplane");
  return { ...spec, name: "rehearsal", endpoint: endpointAt(first?.address ?? ""), deletionProtection: false };
}
