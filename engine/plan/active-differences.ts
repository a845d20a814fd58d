// SPDX-License-Identifier: Apache-2.0
import { type Change, diffConfigs } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { configChange } from "./config-change.ts";

/**
 * From a machine's active config to the desired one. A machine of a newer Talos can have settings that our schema does
 * not know: of such a config only the places are told.
 */
export function activeDifferences(active: string, desired: string): readonly Change[] {
  try {
    return diffConfigs(active, desired, { before: "active config", after: "desired config" });
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    const { places = [], reboot = false } = configChange(active, desired) ?? {};
    return places.map(({ document, path }) => ({ document, path, kind: "changed", reboot }));
  }
}
