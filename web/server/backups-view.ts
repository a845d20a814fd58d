// SPDX-License-Identifier: Apache-2.0
import { isOf, listBackups } from "../../engine/backup/index.ts";
import type { Environment } from "../../model/index.ts";
import { backupStatus } from "../../workspace/backup-status.ts";
import { casOf, storeOf } from "../../workspace/backups.ts";
import type { WorkspaceContext } from "../../workspace/context.ts";
import type { ConsoleProject } from "./project.ts";

/** The backups of an environment for the page, newest first. A place that can't be read is told, not thrown. */
export async function backupsView(
  root: string,
  environment: Environment,
  context: WorkspaceContext,
): ReturnType<ConsoleProject["backups"]> {
  const section = environment.backup;
  const status = await backupStatus(root, environment, context);
  if (section === undefined || status === undefined) return undefined;
  const { place, last, problem } = status;
  const view = { place: place ?? section.directory ?? section.s3?.bucket ?? "", problem: problem ?? null };
  if (last === undefined) return { ...view, backups: [] };
  const store = await storeOf(root, environment, section);
  const found = await listBackups(store, environment.cluster.name, context.signal);
  const cas = await casOf(root, environment, context);
  const own = found.filter((backup) => isOf(backup, cas));
  const rows = own.map(({ id, takenAt, bytes, revision, hash, pki }) => {
    return { id, takenAt: takenAt.toISOString(), bytes, revision, hash, pki };
  });
  return { ...view, backups: rows.reverse() };
}
