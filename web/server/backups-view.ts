// SPDX-License-Identifier: Apache-2.0
import { isOf, listBackups } from "../../engine/backup/index.ts";
import { backupStatus } from "../../workspace/backup-status.ts";
import { findBackups } from "../../workspace/backups.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { ConsoleProject } from "./project.ts";

/** The backups of an environment for the page, newest first. A place that can't be read is told, not thrown. */
export async function backupsView(workspace: Workspace): ReturnType<ConsoleProject["backups"]> {
  const section = workspace.environment.backup;
  const status = await backupStatus(workspace);
  if (section === undefined || status === undefined) return undefined;
  const { place, last, problem } = status;
  const view = { place: place ?? section.directory ?? section.s3?.bucket ?? "", problem: problem ?? null };
  const opened = last === undefined ? undefined : await findBackups(workspace);
  if (opened === undefined) return { ...view, backups: [] };
  const { store, cluster, cas } = opened;
  const found = await listBackups(store, cluster, workspace.context.signal);
  const own = found.filter((backup) => isOf(backup, cas));
  const rows = own.map(({ id, takenAt, bytes, revision, hash, pki }) => {
    return { id, takenAt: takenAt.toISOString(), bytes, revision, hash, pki };
  });
  return { ...view, backups: rows.reverse() };
}
