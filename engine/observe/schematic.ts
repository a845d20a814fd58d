// SPDX-License-Identifier: Apache-2.0
import type { ConfiguredMachine } from "../observed.ts";

/** The schematic that an image of the image factory is made from; undefined for any other image. */
export function schematicOf(image: string): string | undefined {
  return /installer[a-z-]*\/([0-9a-f]{64})[:@]/.exec(image)?.[1];
}

/** True when the image names a schematic and the machine tells that it runs another one, or none. */
export function runsOtherSchematic(image: string, { schematic }: Pick<ConfiguredMachine, "schematic">): boolean {
  const wanted = schematicOf(image);
  return wanted !== undefined && schematic !== undefined && schematic !== wanted;
}
