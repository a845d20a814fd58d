// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as z from "zod";
import { encryptionFileName } from "../../constructs/index.ts";
import type { ClusterSpec, MachineSpec } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import { withTemporaryFolder } from "../../talos/process-folder.ts";
import type { EnvironmentOnDisk } from "../context.ts";
import { openPatchFiles } from "../patch-files.ts";
import { findTerraform } from "./find-terraform.ts";
import { stackOfState } from "./prepare-stack.ts";
import { readState, stateFile } from "./state-file.ts";
import { Terraform, type TerraformOptions } from "./terraform.ts";

const stateSchema = z.object({
  resources: z.array(
    z.object({
      mode: z.string(),
      type: z.string(),
      instances: z.array(z.object({ attributes: z.record(z.string(), z.unknown()) })),
    }),
  ),
});

/**
 * A cluster on machines that Terraform made, as its state tells of it: addresses, patches and all. Undefined when the
 * state has no cluster.
 */
export async function recordedSpec(place: EnvironmentOnDisk): Promise<ClusterSpec | undefined> {
  const { root, environment, context } = place;
  const text = await stateText(place);
  const state = text === undefined ? undefined : stateSchema.safeParse(JSON.parse(text)).data;
  const attributes = state?.resources.find(({ mode, type }) => mode === "managed" && type === "talosmith_cluster")
    ?.instances[0]?.attributes;
  if (attributes === undefined) return undefined;
  const { recordedCluster } = await import("../../provider/types/index.ts");
  const recorded = await recordedCluster(JSON.stringify(attributes));
  if (recorded === undefined)
    throw new TalosError("failed-precondition", `${environment.name} has workers only`, {
      hint: `Its control plane belongs to ${environment.joins?.name ?? "another environment"}: name that one.`,
    });
  const { spec, patchFiles, poolPatchFiles } = recorded;
  const opened = async <H extends Pick<MachineSpec, "patches">>(holder: H, files: readonly string[] = []) => {
    const secret = await openPatchFiles(files, spec.contract, root, context.env);
    return { ...holder, patches: [...(holder.patches ?? []), ...secret] };
  };
  const machines = spec.machines.map((machine) => opened(machine, patchFiles.get(machine.name)));
  const pools = Object.entries(spec.scalingPools ?? {}).map(
    async ([name, pool]) => [name, await opened(pool, poolPatchFiles.get(name))] as const,
  );
  const scalingPools: ClusterSpec["scalingPools"] = Object.fromEntries(await Promise.all(pools));
  return { ...spec, machines: await Promise.all(machines), scalingPools };
}

const outputsSchema = z.object({
  outputs: z.object({ backup_bucket: z.object({ value: z.string() }).optional() }),
});

/** The bucket for backups that was made with the infrastructure; undefined when the state has none. */
export async function recordedBucket(place: EnvironmentOnDisk): Promise<string | undefined> {
  const text = await stateText(place);
  return outputsSchema.safeParse(jsonIn(text ?? "")).data?.outputs.backup_bucket?.value;
}

/** From the disk where it lies there and can be read; else through terraform or tofu. */
async function stateText({ root, environment, context }: EnvironmentOnDisk): Promise<string | undefined> {
  if (environment.backend.kind === "local") {
    const state = await readState(stateFile(root, environment.name));
    if (state === undefined || state.resources !== "encrypted") return state?.text;
  }
  const binary = findTerraform(context.env, environment.backend);
  if (binary === undefined)
    throw new TalosError(
      "failed-precondition",
      `the state of ${environment.name} can only be read by terraform or tofu`,
      { hint: "Put the one that you deploy with on the PATH." },
    );
  const directory = await stackOfState(root, environment.name, context);
  return pullState({ binary, directory, env: context.env, signal: context.signal });
}

const stackSchema = z.looseObject({
  terraform: z.looseObject({
    backend: z.record(z.string(), z.looseObject({ path: z.string().optional() })),
    encryption: z.unknown().optional(),
  }),
});

/**
 * The state of a synthesized stack, wherever it is kept, in the clear; undefined when there is none. It asks for the
 * stack's backend alone: its providers need not be there to read what is written.
 */
async function pullState({ directory, ...options }: TerraformOptions): Promise<string | undefined> {
  const { terraform } = stackSchema.parse(JSON.parse(await readFile(join(directory, "cdk.tf.json"), "utf8")));
  const { backend, encryption } = terraform;
  // Relative to the stack, which this is not.
  const placed = Object.entries(backend).map(([kind, settings]) => [
    kind,
    settings.path === undefined ? settings : { ...settings, path: resolve(directory, settings.path) },
  ]);
  return withTemporaryFolder("state", async (folder) => {
    const only = { backend: Object.fromEntries(placed), ...given({ encryption }) };
    await writeFile(join(folder, "backend.tf.json"), JSON.stringify({ terraform: only }));
    const sealed = join(directory, encryptionFileName);
    if (existsSync(sealed)) await copyFile(sealed, join(folder, encryptionFileName));
    const program = new Terraform({ ...options, directory: folder });
    // It fails for providers, but not before the backend is ready; whether it is, the next command tells.
    const failure = await program.initBackend();
    const text = await program.pullState().catch((error: unknown) => {
      throw failure ?? error;
    });
    return text || undefined;
  });
}
