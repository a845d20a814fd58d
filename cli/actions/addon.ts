// SPDX-License-Identifier: Apache-2.0
import { type Addon, addonState, applyAddons, rollbackAddon } from "../../engine/addon/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { addonAccess, readAddons } from "../../workspace/addons.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { report } from "../output/report.ts";
import { jsonText, tableOf } from "../output/table.ts";

export async function list(name: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true });
  const addons = await readAddons(workspace);
  const access = addons.length === 0 ? undefined : addonAccess(workspace);
  const rows = [];
  for (const addon of addons) {
    if (access === undefined) break;
    const { state, release } = await addonState(addon, access);
    const { revision, status, chart } = release ?? {};
    rows.push({ name: addon.name, namespace: addon.namespace, state, revision, status, chart });
  }
  const columns = ["name", "namespace", "state", "revision", "status", "chart"] as const;
  context.stdout.write(json ? jsonText({ v: 1, addons: rows }) : tableOf(columns, rows));
}

export async function apply(
  name: string,
  which: string | undefined,
  flags: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true });
  const all = await readAddons(workspace);
  const chosen = which === undefined ? all : [findAddon(which, all)];
  await applyAddons(chosen, addonAccess(workspace), (addon, outcome) => {
    if (outcome === "begun") return;
    const changed = outcome === "changed";
    report(context, flags, { addon: addon.name, changed }, `  ✓ ${addon.name}: ${changed ? "applied" : "up to date"}`);
  });
}

export async function rollback(
  name: string,
  which: string,
  revision: number | undefined,
  flags: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true });
  const addon = findAddon(which, await readAddons(workspace));
  const release = await rollbackAddon(addon, revision, addonAccess(workspace));
  const at = { addon: which, revision: release.revision, chart: release.chart };
  report(context, flags, at, `${which} is at revision ${release.revision}, ${release.chart}.`);
  context.stderr.write("The file still asks for the other one: change it, or the next apply goes forward again.\n");
}

function findAddon(which: string, all: readonly Addon[]): Addon {
  const addon = all.find(({ name }) => name === which);
  if (addon !== undefined) return addon;
  throw new TalosError("not-found", `no add-on ${which}`, {
    hint: `They are: ${all.map(({ name }) => name).join(", ") || "none"}.`,
  });
}
