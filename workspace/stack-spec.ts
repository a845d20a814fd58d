// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { evaluateStack, isMap, type JsonObject, unknown, type Value, type Values } from "../constructs/index.ts";
import type { ClusterSpec, MachineSpec } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import { endpointAt } from "../talos/endpoint-at.ts";
import { TalosError } from "../talos/errors.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import type { MachineAddresses } from "./machines.ts";
import { isNewest, stackDirectory, withStack } from "./terraform/prepare-stack.ts";

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
  const { environment } = place;
  const { name } = environment;
  const stack = JSON.parse(await stackText(place)) as JsonObject;
  const cluster = evaluateStack(stack).find(
    ({ type, values }) => type === "talosmith_cluster" && values.name === environment.cluster.name,
  );
  if (cluster === undefined) throw noCluster(environment);
  const { argumentsAsRecorded } = await import("../provider/types/index.ts");
  const values = cluster.values;
  if (!isMap(values.machines ?? null)) throw onlyTerraformKnows(`machines of ${environment.cluster.name}`);
  const machines = Object.entries(values.machines as Readonly<Record<string, Values>>).flatMap(([machine, own]) => {
    const found = addresses.get(machine);
    if (found === undefined) return [];
    const fingerprint = found.fingerprint ?? (own.fingerprint === unknown ? null : (own.fingerprint ?? null));
    // Ids of resources matter to Terraform alone.
    const place: Values = { address: found.address, fingerprint, member_id: null, hardware_id: null };
    return [{ machine, values: { ...own, ...place } }];
  });
  const first = machines.find((machine) => machine.values.role === "controlplane")?.values.address;
  const endpoint = values.endpoint === unknown ? endpointAt(String(first ?? "")) : values.endpoint;
  const known = {
    ...values,
    endpoint: endpoint ?? null,
    machines: Object.fromEntries(machines.map(({ machine, values: own }) => [machine, own])),
  };
  refuseUnknown(known, `cluster ${environment.cluster.name} of the stack ${name}`);
  const recorded = await argumentsAsRecorded(known);
  if (recorded === undefined) throw noCluster(environment);
  const { spec } = recorded;
  return {
    ...spec,
    deletionProtection: values.on_destroy === "prevent",
    leaving,
    machines: spec.machines.map((machine) => ({ ...machine, patches: [...(machine.patches ?? []), ...patches] })),
  };
}

/** The app is run only where its last stack is of other files. */
async function stackText(place: EnvironmentOnDisk): Promise<string> {
  const { root, environment, unsaved } = place;
  const last = stackDirectory(root, environment.name);
  const read = (directory: string) => readFile(join(directory, "cdk.tf.json"), "utf8");
  if ((unsaved?.size ?? 0) === 0 && (await isNewest(root, last))) return read(last);
  return withStack(place, ({ directory }) => read(directory));
}

function noCluster({ name, cluster }: Environment): TalosError {
  return new TalosError("failed-precondition", `the stack ${name} has no cluster ${cluster.name} with control planes`, {
    hint: "main.ts may add to the stack of an environment file, but its cluster must stay.",
  });
}

/** A value that is missing here would be missing in the machines' configs. */
function refuseUnknown(value: Value, path: string): void {
  if (value === unknown) throw onlyTerraformKnows(path);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) refuseUnknown(inner as Value, `${path}, ${key}`);
}

function onlyTerraformKnows(path: string): TalosError {
  return new TalosError("failed-precondition", `${path}: found an expression that only Terraform can evaluate`, {
    hint: "Set a plain value in main.ts, or deploy this environment through terraform or tofu.",
  });
}
