// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../model/index.ts";

/** Which contract the machine configs have, for `plan` and `status`. */
export function contractLine({ cluster: { configContract, previousContract } }: Pick<Environment, "cluster">): string {
  const before = previousContract === undefined ? "" : `, migrated from ${previousContract}`;
  return `Config contract: ${configContract}${before}`;
}
