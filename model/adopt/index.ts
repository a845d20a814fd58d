// SPDX-License-Identifier: Apache-2.0
export { patchesBetween } from "./config-difference.ts";
export { differingSecrets } from "./differing-secrets.ts";
export { type Additions, environmentData, type MachinePatches } from "./environment-data.ts";
export { fromOperator } from "./from-operator.ts";
export { bundleOfMachineSecrets, fromProviderState } from "./from-provider-state.ts";
export { fromTalhelper, fromTalosctl, type TalosctlFiles } from "./from-talosctl.ts";
export { type AdoptedMachine, readMachines } from "./live.ts";
export { operatorFields } from "./operator-fields.ts";
export type { AdoptSource, SourceFile } from "./source.ts";
export { splitSecrets } from "./split-secrets.ts";
