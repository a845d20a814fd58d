// SPDX-License-Identifier: Apache-2.0
import { controlPlanePool } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { counted } from "../../workspace/amounts.ts";
import { withPoolCount } from "../../workspace/environment-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { applyEdit, type UpgradeFlags } from "./upgrade.ts";

interface ScaleFlags extends Omit<UpgradeFlags, "to"> {
  readonly to: number;
}

/** Another number of machines in a pool: into the file first, then onto the machines. */
export async function scale(name: string, pool: string, flags: ScaleFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context);
  const before = countOf(workspace, pool);
  const { root, environment } = workspace;
  const edit = withPoolCount(root, environment, pool, flags.to);
  const [file = environment.file] = edit.texts.keys();
  const line =
    edit.texts.size === 0
      ? `${file} has ${counted(flags.to, "machine")} in pool ${pool} already.`
      : `${file}: machines in pool ${pool} ${before} → ${flags.to}`;
  await applyEdit({ name, edit, lines: [line], command: `scale ${name} ${pool} --to ${flags.to}`, flags, context });
}

function countOf({ environment }: Workspace, pool: string): number {
  const { name, kind, controlPlane, workers } = environment;
  if (kind === "metal")
    throw new TalosError("invalid-input", `${name}: the machines of kind metal are listed one by one`, {
      hint: `Add or remove entries of infrastructure.machines in ${environment.file}, then: talosmith deploy ${name}`,
    });
  const pools = new Map(workers.map((one) => [one.name, one.count]));
  if (controlPlane !== undefined) pools.set(controlPlanePool, controlPlane.count);
  const count = pools.get(pool);
  if (count !== undefined) return count;
  throw new TalosError("not-found", `${name} has no pool ${pool}`, {
    hint: `Its pools: ${[...pools.keys()].join(", ")}.`,
  });
}
