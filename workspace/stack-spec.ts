// SPDX-License-Identifier: Apache-2.0
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { evaluateStack, type JsonObject, unknown, type Value } from "../constructs/index.ts";
import type { ClusterSpec, MachineSpec } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import { endpointAt } from "../talos/endpoint-at.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import type { MachineAddresses } from "./machines.ts";
import { prepareStack, stackDirectory } from "./terraform/prepare-stack.ts";

export interface StackSpecOptions {
  readonly leaving: readonly MachineSpec[];
  /** Secret patches for every machine. */
  readonly patches: readonly string[];
}

/**
 * The cluster as the project's own app makes it of the file, on machines that are there: what main.ts adds to a stack
 * holds for command line, web console and operator as it does for Terraform.
 */
export async function stackSpec(
  place: EnvironmentOnDisk,
  addresses: MachineAddresses,
  { leaving, patches }: StackSpecOptions,
): Promise<ClusterSpec> {
  const { root, environment, context } = place;
  const { name } = environment;
  const isCurrent = await isNewest(root, join(stackDirectory(root, name), "cdk.tf.json"));
  const directory = isCurrent ? stackDirectory(root, name) : await prepareStack(root, name, context);
  const stack = JSON.parse(await readFile(join(directory, "cdk.tf.json"), "utf8")) as JsonObject;
  const cluster = evaluateStack(stack).find(
    ({ type, values }) => type === "talosmith_cluster" && values.name === environment.cluster.name,
  );
  if (cluster === undefined) throw noCluster(environment);
  const { argumentsAsRecorded } = await import("../provider/types/index.ts");
  const values = cluster.values;
  const machines = Object.entries(values.machines as Readonly<Record<string, { readonly role: Value }>>).flatMap(
    ([machine, own]) => {
      const found = addresses.get(machine);
      if (found === undefined) return [];
      return [[machine, { ...own, address: found.address, ...given({ fingerprint: found.fingerprint }) }] as const];
    },
  );
  const first = machines.find(([, { role }]) => role === "controlplane");
  const endpoint = values.endpoint === unknown ? endpointAt(first?.[1].address ?? "") : values.endpoint;
  const known = withoutUnknown({ ...values, endpoint: endpoint ?? null, machines: Object.fromEntries(machines) });
  const recorded = await argumentsAsRecorded(known as { readonly machines: object });
  if (recorded === undefined) throw noCluster(environment);
  const { spec } = recorded;
  return {
    ...spec,
    deletionProtection: values.on_destroy === "prevent",
    leaving,
    machines: spec.machines.map((machine) => ({ ...machine, patches: [...(machine.patches ?? []), ...patches] })),
  };
}

function noCluster({ name, cluster }: Environment): TalosError {
  return new TalosError("failed-precondition", `the stack ${name} has no cluster ${cluster.name} with control planes`, {
    hint: "main.ts may add to the stack of an environment file, but its cluster must stay.",
  });
}

/** Terraform's own ids, and addresses of machines that are still to be made. */
function withoutUnknown(value: Value): unknown {
  if (value === unknown) return null;
  if (Array.isArray(value)) return value.map(withoutUnknown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutUnknown(inner as Value)]));
}

const made = new Set(["node_modules", "cdktf.out", "generated", "state", ".git"]);

/** Whether nothing that an app is made of has changed since a stack was written: running it takes a second. */
async function isNewest(root: string, stack: string): Promise<boolean> {
  const written = await stat(stack).catch(() => undefined);
  if (written === undefined) return false;
  const isOlder = async (folder: string): Promise<boolean> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !made.has(entry.name) && !(await isOlder(path))) return false;
      if (!entry.isFile() || !/\.([cm]?[jt]s|ya?ml|json|hbs)$/.test(entry.name)) continue;
      if ((await stat(path)).mtimeMs >= written.mtimeMs) return false;
    }
    return true;
  };
  return isOlder(root);
}
