// SPDX-License-Identifier: Apache-2.0
import type { MachineSpec } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import type { MachineAddress } from "./cluster-spec.ts";

/** Where the machines of one kind of environment come from when Terraform has no part in it. */
export interface MachineSource {
  /** Throws where a state of Terraform elsewhere has machines of this environment. */
  refuseOthers?(root: string, environment: Environment): Promise<void>;
  /** All machines of the file, made where they are not there yet. */
  ensure(root: string, environment: Environment): Promise<Map<string, MachineAddress>>;
  /** Those that exist, without making any. */
  find(root: string, environment: Environment): Promise<Map<string, MachineAddress>>;
  /** Whether the helper has made or taken in any. */
  has(root: string, environment: Environment): Promise<boolean>;
  /** Machines of the cluster that the file does not ask for any more. */
  surplus(root: string, environment: Environment): Promise<readonly MachineSpec[]>;
  /** Ends what the source has to do with machines that have left: all, or those with these names. */
  remove(root: string, environment: Environment, names?: readonly string[]): Promise<void>;
}
