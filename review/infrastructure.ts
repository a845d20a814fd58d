// SPDX-License-Identifier: Apache-2.0
import type { Action } from "./plan.ts";
import type { Review } from "./review.ts";
import { machineTypes } from "./rules/machines.ts";
import { backupType, clientFilesType } from "./rules/resources.ts";

/** What a plan does to resources of one kind, outside of the clusters themselves. */
export interface InfrastructureChange {
  /** Such as "create 2 machines" or "change aws_lb". */
  readonly what: string;
  readonly names: readonly string[];
  /** Machines go, and what is on their disks. */
  readonly losesData: boolean;
}

const verbs: Readonly<Record<Action, string>> = {
  create: "create",
  update: "change",
  replace: "replace",
  delete: "destroy",
  forget: "forget",
};

/** What talosmith does to these is in the steps of their cluster. */
const inSteps: ReadonlySet<string> = new Set(["talosmith_cluster", "talosmith_member"]);

/** Machines first, and last what is written and installed when they are up. */
function rank(kind: string): number {
  if (kind === "machine") return 0;
  return Object.values(ownKinds).includes(kind) ? 2 : 1;
}

const plural = (kind: string) => (/^(machine|add-on|backup)$/.test(kind) ? `${kind}s` : kind);

const ownKinds: Readonly<Record<string, string>> = {
  [clientFilesType]: "client files",
  talosmith_addon: "add-on",
  [backupType]: "backup",
};

/** Machines and what talosmith makes by the words of people; the rest by Terraform's type. */
export function infrastructureChanges({ resources }: Pick<Review, "resources">): readonly InfrastructureChange[] {
  const groups = new Map<string, { readonly action: Action; readonly kind: string; readonly names: string[] }>();
  for (const { type, action, name } of resources) {
    // Nothing happens to a backup that is kept.
    if (inSteps.has(type) || (type === backupType && action === "forget")) continue;
    const kind = machineTypes.has(type) ? "machine" : (ownKinds[type] ?? type);
    const group = groups.get(`${action} ${kind}`) ?? { action, kind, names: [] };
    group.names.push(name);
    groups.set(`${action} ${kind}`, group);
  }
  const inOrder = [...groups.values()].sort((left, right) => rank(left.kind) - rank(right.kind));
  return inOrder.map(({ action, kind, names }) => ({
    what: `${verbs[action]} ${names.length === 1 ? kind : `${names.length} ${plural(kind)}`}`,
    names,
    losesData: kind === "machine" && (action === "delete" || action === "replace"),
  }));
}
