// SPDX-License-Identifier: Apache-2.0
export { type ClientFiles, type ClientFilesArguments, ClientFilesResource } from "./client-files.ts";
export { type ClusterArguments, ClusterResource } from "./cluster.ts";
export { type AddonArguments, AddonResource, type EtcdSnapshotArguments, EtcdSnapshotResource } from "./day-two.ts";
export { CloudInitResource, MemberResource, SimulatedMachineResource } from "./machine.ts";
export { type ClusterSettings, MachineConfigDataSource, type MachineConfigSettings } from "./machine-config.ts";
export { TalosmithProvider } from "./provider.ts";
