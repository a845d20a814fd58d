// SPDX-License-Identifier: Apache-2.0
export { argumentsAsRecorded, recordedCluster } from "./cluster/spec.ts";
export { talosmithProvider } from "./provider.ts";
