// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { listedMachinesOf, type MachinePlan } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { clientFilePaths } from "../client-files.ts";
import type { Deployed } from "../deploy.ts";
import type { Workspace } from "../workspace.ts";
import { stackDirectory } from "./prepare-stack.ts";
import { Terraform } from "./terraform.ts";

const outputs = z.object({
  cluster_endpoint: z.string(),
  // Workers that join another environment's control plane have no files of their own.
  kubeconfig_path: z.string().optional(),
  talosconfig_path: z.string().optional(),
  control_plane_ips: z.array(z.string()),
  worker_ips: z.array(z.string()),
});

/** What the applied stack says of itself. */
export async function deployedByTerraform(
  workspace: Workspace,
  binary: string,
): Promise<Omit<Deployed, "seconds" | "runner" | "unseen">> {
  const { root, name, environment, context } = workspace;
  const directory = stackDirectory(root, name);
  const terraform = new Terraform({ binary, directory, env: context.env, signal: context.signal });
  const joined = clientFilePaths(environment.joins?.name ?? environment.name);
  const parsed = outputs.safeParse(await terraform.outputs());
  if (!parsed.success) throw withoutOutputs(environment.name, parsed.error);
  const found = parsed.data;
  const machines = listedMachinesOf(environment);
  const addresses = addressesByName(machines, [...found.control_plane_ips, ...found.worker_ips]);
  return {
    environment: environment.name,
    talosVersion: environment.cluster.talosVersion,
    kubernetesVersion: environment.cluster.kubernetesVersion,
    machines: machines.map(({ name, role }) => ({ name, role, address: addresses.get(name) ?? "" })),
    endpoint: found.cluster_endpoint,
    kubeconfigPath: found.kubeconfig_path ?? joined.kubeconfig,
    talosconfigPath: found.talosconfig_path ?? joined.talosconfig,
  };
}

function withoutOutputs(name: string, { issues }: z.ZodError): TalosError {
  const missing = [...new Set(issues.map(({ path }) => String(path[0])))].join(", ");
  return new TalosError(
    "failed-precondition",
    `the Terraform state of ${name} lacks outputs of its stack: ${missing}`,
    {
      hint: `The changes are applied. Where main.ts makes the stack, it must keep these outputs. Then: talosmith deploy ${name}`,
    },
  );
}

/** Terraform lists the machines of a pool in the order of their keys: w-1, w-10, w-2. */
function addressesByName(machines: readonly MachinePlan[], addresses: readonly string[]): ReadonlyMap<string, string> {
  const pools = [...new Set(machines.map(({ pool }) => pool))];
  const names = pools.flatMap((pool) => {
    const own = machines.filter((machine) => machine.pool === pool).map(({ name }) => name);
    return own.sort((left, right) => (left < right ? -1 : 1));
  });
  return new Map(names.map((name, index) => [name, addresses[index] ?? ""]));
}
