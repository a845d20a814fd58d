// SPDX-License-Identifier: Apache-2.0
import type { Authentication } from "./authentication.ts";
import { type EtcdCalls, etcdCalls } from "./etcd-calls.ts";
import { grpcTransport, type TransportOptions } from "./grpc-transport.ts";
import { type ImageCalls, imageCalls } from "./image-calls.ts";
import { type LifecycleCalls, lifecycleCalls } from "./lifecycle-calls.ts";
import { type MachineCalls, machineCalls } from "./machine-calls.ts";
import { type ResourceCalls, resourceCalls } from "./resource-calls.ts";
import { type StateCalls, stateCalls } from "./state-calls.ts";
import { type StreamCalls, streamCalls } from "./stream-calls.ts";
import type { Transport } from "./transport.ts";

/** Everything we ask of one machine. Every error is a TalosError; every call takes a deadline and a signal. */
export interface TalosClient
  extends MachineCalls,
    EtcdCalls,
    ImageCalls,
    LifecycleCalls,
    ResourceCalls,
    StateCalls,
    StreamCalls {
  /** In maintenance mode: what the machine showed, after the first call. */
  readonly fingerprint: string | undefined;
  /** Ends the connection. A call after it opens a new one. */
  close(): void;
}

/** A client for the machine at this address. It connects with the first call and again after a lost connection. */
export function connect(address: string, authentication: Authentication, options: TransportOptions = {}): TalosClient {
  return clientOver(grpcTransport(address, authentication, options));
}

/** The same calls over any transport, such as one inside the process. */
export function clientOver(transport: Transport & { readonly fingerprint?: string | undefined }): TalosClient {
  return {
    ...machineCalls(transport),
    ...etcdCalls(transport),
    ...imageCalls(transport),
    ...lifecycleCalls(transport),
    ...resourceCalls(transport),
    ...stateCalls(transport),
    ...streamCalls(transport),
    get fingerprint() {
      return transport.fingerprint;
    },
    close: () => transport.close(),
  };
}
