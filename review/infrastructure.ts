// SPDX-License-Identifier: Apache-2.0
import { type Action, backupType } from "./plan.ts";
import type { Review } from "./review.ts";
import { machineTypes } from "./rules/machines.ts";
import { clientFilesType } from "./rules/resources.ts";

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

/** Whether what happens to a resource is a step of its own; what is only forgotten takes none. */
export function isInfrastructureStep({ type, action }: Review["resources"][number]): boolean {
  return !inSteps.has(type) && action !== "forget";
}

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

interface Group {
  readonly action: Action;
  readonly kind: string;
  count: number;
  readonly names: string[];
}

/** Client files are two in one resource; a backup has a name only once it is taken. */
function namesIn(type: string, action: Action, name: string): readonly string[] {
  if (type === backupType && action !== "delete") return [];
  return type === clientFilesType ? name.split(", ") : [name];
}

function whatHappens(action: Action, kind: string, count: number): string {
  if (kind === ownKinds[backupType] && action !== "delete")
    return count === 1 ? "take a backup" : `take ${count} backups`;
  return `${verbs[action]} ${count === 1 ? kind : `${count} ${plural(kind)}`}`;
}

/** Machines and what talosmith makes by the words of people; the rest by Terraform's type. */
export function infrastructureChanges({ resources }: Pick<Review, "resources">): readonly InfrastructureChange[] {
  const groups = new Map<string, Group>();
  for (const { type, action, name } of resources) {
    // Nothing happens to a backup that is kept.
    if (inSteps.has(type) || (type === backupType && action === "forget")) continue;
    const kind = machineTypes.has(type) ? "machine" : (ownKinds[type] ?? type);
    const group = groups.get(`${action} ${kind}`) ?? { action, kind, count: 0, names: [] };
    group.count += 1;
    group.names.push(...namesIn(type, action, name));
    groups.set(`${action} ${kind}`, group);
  }
  const inOrder = [...groups.values()].sort((left, right) => rank(left.kind) - rank(right.kind));
  return inOrder.map(({ action, kind, count, names }) => ({
    what: whatHappens(action, kind, count),
    names,
    losesData: kind === "machine" && (action === "delete" || action === "replace"),
  }));
}
