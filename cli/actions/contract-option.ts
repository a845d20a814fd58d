// SPDX-License-Identifier: Apache-2.0
import { Contract, defaultTalosVersion } from "../../talos/version/index.ts";

/** The contract that `--talos-version` names. An empty value is none, as for talosctl: scripts pass empty variables. */
export function contractOption(text: string | undefined): Contract {
  return text === undefined || text === "" ? defaultTalosVersion.contract : Contract.parse(text);
}
