// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "../../../engine/index.ts";
import type { Change } from "../../../talos/config/index.ts";

/** Longer values are told by their size: the plan is for reading. */
const longestValue = 160;

/** What changes in each machine's config, by path, with secrets replaced. Machines without a change are left out. */
export async function configChanges(
  before: DesiredCluster,
  after: DesiredCluster,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const { diffConfigs, movesInWords } = await import("../../../talos/config/index.ts");
  const changes: Record<string, readonly string[]> = {};
  for (const machine of after.machines) {
    const was = before.machines.find(({ name }) => name === machine.name);
    if (was === undefined || was.config.text === machine.config.text) continue;
    const found = diffConfigs(was.config, machine.config);
    const moves = movesInWords(found);
    const told = found.filter(({ kind }) => kind !== "moved");
    const lines = told.map((change) => {
      const what = change.path === "" ? change.kind : `${brief(change.before)} → ${brief(change.after)}`;
      return `${placeInWords(change)}: ${what}${change.reboot ? " (reboots)" : ""}`;
    });
    if (found.length > 0) changes[machine.name] = [...lines, ...(moves === undefined ? [] : [moves])];
  }
  return changes;
}

/** `machine.sysctls` or `HostnameConfig auto`. */
export function placeInWords({ document, path }: Change): string {
  return document === "v1alpha1" ? path : `${document} ${path}`.trim();
}

function brief(yaml: string | undefined): string {
  if (yaml === undefined) return "none";
  const text = yaml.trim();
  const lines = text.split("\n");
  return lines.length === 1 && text.length <= longestValue ? text : `(${lines.length} lines)`;
}
