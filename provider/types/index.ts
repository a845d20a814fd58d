// SPDX-License-Identifier: Apache-2.0
export { configChanges } from "./cluster/planned-steps.ts";
export { argumentsAsRecorded, recordedCluster } from "./cluster/spec.ts";
export { talosmithProvider } from "./provider.ts";
