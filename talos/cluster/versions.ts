// SPDX-License-Identifier: Apache-2.0
import { compare } from "semver";
import { TalosVersion } from "../version/index.ts";

/** Negative when `left` is older. Both without v. */
export function compareKubernetesVersions(left: string, right: string): number {
  return compare(left, right);
}

/** Whether some fields of a config need a reboot on this release; from 1.14 on none does. */
export function rebootsForConfig(version: TalosVersion): boolean {
  return version.compare(TalosVersion.parse("v1.14.0")) < 0;
}
