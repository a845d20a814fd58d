// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { Environment } from "./environment.ts";

/** What a file says of the bucket that is made with its infrastructure. */
export interface OwnBucket {
  readonly region: string;
  readonly profile?: string;
}

/** The bucket that an environment on AWS makes for its backups, which have no other place; undefined where it makes none. */
export function ownBucket({ kind, infrastructure, backup }: Environment): OwnBucket | undefined {
  if (kind !== "aws" || backup === undefined || hasPlace(backup)) return undefined;
  const { region, provider } = infrastructure;
  return { region, ...given({ profile: provider.profile }) };
}

/** Whether the file says where backups go. */
export function hasPlace({ directory, s3 }: NonNullable<Environment["backup"]>): boolean {
  return directory !== undefined || s3 !== undefined;
}

/** Whether backups are deleted before the store does it itself. */
export function prunes({ backup }: Pick<Environment, "backup">): boolean {
  return backup?.keep.age !== undefined || backup?.keep.count !== undefined;
}
