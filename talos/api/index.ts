// SPDX-License-Identifier: Apache-2.0
export { type Address, apiPort, parseAddress } from "./address.ts";
export type { Authentication, Credentials } from "./authentication.ts";
export { clientOver, connect, type TalosClient } from "./client.ts";
export type { EtcdMemberInfo, EtcdStatus } from "./etcd-calls.ts";
export type { TransportOptions } from "./grpc-transport.ts";
export type { ImageNamespace } from "./image-calls.ts";
export type { ResetOptions } from "./lifecycle-calls.ts";
export type { ApplyMode, ApplyReply, BootstrapOptions, ServiceState, VersionInfo } from "./machine-calls.ts";
export { fromNodeError } from "./node-error.ts";
export { type Probe, type ProbeOptions, probe } from "./probe.ts";
export type { NodeReply } from "./replies.ts";
export type { Resource, ResourceChange } from "./resource-calls.ts";
export type { ClusterMember, MachineStatus, Stage } from "./state-calls.ts";
export { type EventOptions, type LogOptions, linesOf, type MachineEvent } from "./stream-calls.ts";
export { connectEndpoints, connectThrough, type Endpoints } from "./through-endpoints.ts";
export type { CallOptions, Transport } from "./transport.ts";
