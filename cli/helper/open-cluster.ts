// SPDX-License-Identifier: Apache-2.0
import { type ClusterSpec, type DesiredCluster, desiredCluster } from "../../talos/cluster/index.ts";
import { type Environment, loadEnvironment, machinesOf } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { projectRoot } from "../project-root.ts";
import { readState, stateFile } from "../terraform/state-file.ts";
import { clusterSpec } from "./cluster-spec.ts";
import { findMachines, surplusMachines } from "./machines.ts";
import { readPatchFiles } from "./patch-files.ts";
import { findSecrets, secretsFile } from "./secrets.ts";

export interface OpenCluster {
  readonly root: string;
  readonly environment: Environment;
  /** What `desired` was made of, with these secrets. */
  readonly spec: ClusterSpec;
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
}

/** A cluster that was made before: its environment, its machines' addresses and its secrets. */
export async function openCluster(name: string, context: CommandContext): Promise<OpenCluster> {
  const root = projectRoot(context.cwd, context.env);
  const environment = loadEnvironment(root, name);
  await readState(stateFile(root, name));
  const addresses = await findMachines(root, environment);
  const missing = machinesOf(environment).filter((machine) => !addresses.has(machine.name));
  const secrets = await findSecrets(root, environment, context);
  if (missing.length > 0) {
    throw new TalosError("not-found", `${name} is not deployed: no machine ${missing.map((m) => m.name).join(", ")}`, {
      hint: `Deploy it: talosmith deploy ${name}`,
    });
  }
  if (secrets === undefined) {
    // Machines without secrets: either nothing has reached them yet, or the key to a running cluster is lost.
    throw new TalosError("not-found", `${name} has machines, but no secrets: ${secretsFile(root, environment)}`, {
      hint: `If it was deployed, put its secrets file back: without it nobody can speak to the machines. If not, deploy it: talosmith deploy ${name}`,
    });
  }
  const files = await readPatchFiles(root, environment, context);
  const spec = clusterSpec(environment, addresses, await surplusMachines(root, environment), files);
  return { root, environment, spec, desired: desiredCluster(spec, secrets), secrets };
}
