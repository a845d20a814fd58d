// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import * as z from "zod";
import type { ClusterSpec } from "../../talos/cluster/index.ts";
import { patchOfFile } from "../../talos/config/index.ts";
import { parsePatchFile } from "../../talos/disk-key-file.ts";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { openProtectedText } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { findTerraform } from "./find-terraform.ts";
import { prepareExistingStack } from "./prepare-stack.ts";
import { pullState } from "./pull-state.ts";
import { readState, stateFile } from "./state-file.ts";

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
export async function recordedSpec(
  root: string,
  environment: Environment,
  context: CommandContext,
): Promise<ClusterSpec | undefined> {
  const text = await stateText(root, environment, context);
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
  const { spec, patchFiles } = recorded;
  const { contract } = spec.talosVersion;
  const machines = spec.machines.map(async (machine) => {
    const secret = (patchFiles.get(machine.name) ?? []).map(async (name) =>
      patchOfFile(name, await openProtectedText(join(root, parsePatchFile(name).path), context.env), contract),
    );
    return { ...machine, patches: [...(machine.patches ?? []), ...(await Promise.all(secret))] };
  });
  return { ...spec, machines: await Promise.all(machines) };
}

/** From the disk where it lies there and can be read; else through terraform or tofu. */
async function stateText(root: string, environment: Environment, context: CommandContext): Promise<string | undefined> {
  if (environment.backend.kind === "local") {
    const state = await readState(stateFile(root, environment.name));
    if (state === undefined || state.resources !== "encrypted") return state?.text;
  }
  const binary = findTerraform(context.env, environment.backend);
  if (binary === undefined)
    throw new TalosError(
      "failed-precondition",
      `the state of ${environment.name} can only be read by terraform or tofu`,
      {
        hint: "Put the one that you deploy with on the PATH.",
      },
    );
  const directory = await prepareExistingStack(root, environment.name, context);
  return pullState({ binary, directory, env: context.env, signal: context.signal });
}
