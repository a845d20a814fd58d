// SPDX-License-Identifier: Apache-2.0
import type { MachineSpec } from "../engine/index.ts";
import type { Kind } from "../model/index.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import type { EnvironmentOnDisk } from "./context.ts";

/** Kinds whose machines need no Terraform: simulated ones are made by the simulator, metal ones are there already. */
export function runsWithoutTerraform(kind: Kind): kind is "simulated" | "metal" {
  return kind === "simulated" || kind === "metal";
}

/** Where the machines of one kind of environment come from when Terraform has no part in it. */
export interface MachineSource {
  /** Throws where a state of Terraform elsewhere has machines of this environment. */
  refuseOthers?(place: EnvironmentOnDisk): Promise<void>;
  /** All machines of the file, made where they are not there yet. */
  ensure(place: EnvironmentOnDisk): Promise<Map<string, MachineAddress>>;
  /** Those that exist, without making any. */
  find(place: EnvironmentOnDisk): Promise<Map<string, MachineAddress>>;
  /** Whether a deploy without Terraform has made or taken in any. */
  has(place: EnvironmentOnDisk): Promise<boolean>;
  /** Whether Terraform has made any with the state of this environment. @default it makes none, or it is not recorded */
  madeByTerraform?(place: EnvironmentOnDisk): Promise<boolean>;
  /** Machines of the cluster that the file does not ask for any more. */
  surplus(place: EnvironmentOnDisk): Promise<readonly MachineSpec[]>;
  /** Ends what the source has to do with machines that have left: all, or those with these names. */
  remove(place: EnvironmentOnDisk, names?: readonly string[]): Promise<void>;
}
