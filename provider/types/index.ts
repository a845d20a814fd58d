// SPDX-License-Identifier: Apache-2.0
export { argumentsAsRecorded, type RecordedCluster, recordedCluster } from "./cluster/spec.ts";
export { type ProviderOptions, talosmithProvider } from "./provider.ts";
