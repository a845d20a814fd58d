// SPDX-License-Identifier: Apache-2.0
import { type ClusterSpec, type DesiredCluster, desiredCluster } from "../../talos/cluster/index.ts";
import { type Environment, loadExistingEnvironment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { projectRoot } from "../project-root.ts";
import { recordedSpec } from "../terraform/recorded-spec.ts";
import { readState, stateFile } from "../terraform/state-file.ts";
import { clusterSpec } from "./cluster-spec.ts";
import { runsWithoutTerraform } from "./kinds.ts";
import { absentMachines, findMachines, isBegun, surplusMachines } from "./machines.ts";
import { readPatchFiles } from "./patch-files.ts";
import { findSecrets, secretsLost } from "./secrets.ts";

export interface OpenCluster {
  readonly root: string;
  readonly environment: Environment;
  /** What `desired` was made of, with these secrets. */
  readonly spec: ClusterSpec;
  readonly desired: DesiredCluster;
  /** Machines of the file that are still to be made, and not part of `desired`. */
  readonly absent: readonly string[];
  readonly secrets: SecretsBundle;
}

/** A cluster that was made before: its environment, its machines' addresses and its secrets. */
export async function openCluster(name: string, context: CommandContext): Promise<OpenCluster> {
  const root = projectRoot(context.cwd, context.env);
  const environment = loadExistingEnvironment(root, name);
  await readState(stateFile(root, name));
  const { spec, absent } = await specOf(root, environment, context);
  const secrets = await findSecrets(root, environment, context);
  if (secrets === undefined) {
    const hint = `If it was deployed, put its secrets file back: without it nobody can speak to the machines. If not, deploy it: talosmith deploy ${name}`;
    throw secretsLost(root, environment, hint);
  }
  return { root, environment, spec, desired: desiredCluster(spec, secrets), absent, secrets };
}

/** What the file says of machines that are there; of those that Terraform makes, what its state says. */
async function specOf(
  root: string,
  environment: Environment,
  context: CommandContext,
): Promise<Pick<OpenCluster, "spec" | "absent">> {
  const { name, kind } = environment;
  const missing = (reason: string) =>
    new TalosError("not-found", `${name} is not deployed: ${reason}`, { hint: `Deploy it: talosmith deploy ${name}` });
  if (!runsWithoutTerraform(kind)) {
    const spec = await recordedSpec(root, environment, context);
    if (spec === undefined) throw missing("its state has no cluster");
    return { spec, absent: [] };
  }
  const addresses = await findMachines(root, environment);
  const absent = absentMachines(environment, addresses);
  if (!isBegun(environment, addresses)) throw missing(`no machine ${absent.join(", ")}`);
  const files = await readPatchFiles(root, environment, context);
  return { spec: clusterSpec(environment, addresses, await surplusMachines(root, environment), files), absent };
}
