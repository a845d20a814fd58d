// SPDX-License-Identifier: Apache-2.0

import { request } from "node:http";
import { join } from "node:path";
import type { Fault, FaultKind } from "./fault-schema.ts";

/** Grows when this file or the files on disk change their meaning: a daemon of another number is replaced. */
export const protocolVersion = 2;

/** What a daemon leaves in its directory (0600) for clients to find it. */
export interface DaemonRecord {
  readonly protocol: number;
  readonly pid: number;
  readonly port: number;
  readonly token: string;
  /** Which code it runs; see `codeIdentity`. */
  readonly code: string;
}

export const recordFile = "daemon.json";

/** Where a simulator in this directory keeps a machine: the file is there as long as the machine is. */
export function machineFile(directory: string, id: string): string {
  return join(directory, "machines", `${id}.json`);
}

/** A machine as its owner sees it. */
export interface SimulatedMachine {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  /** Who had it made, such as a Terraform state. */
  readonly owner?: string | undefined;
  /** 127.x.y.z; the API listens on port 50000, Kubernetes on 6443. */
  readonly address: string;
  /** Of the certificate in maintenance mode, as `talosctl --cert-fingerprint` takes it. Stable for the machine's life. */
  readonly fingerprint: string;
  /** As the machine calls it: booting, maintenance, installing, running, rebooting … */
  readonly stage: string;
  readonly ready: boolean;
  readonly talosVersion: string;
  /** Kinds of the faults that it has now. */
  readonly faults: readonly FaultKind[];
  /** Why it does not answer where it should, such as a port that another program has. */
  readonly problem?: string | undefined;
}

export interface CreateMachine {
  readonly name: string;
  readonly cluster: string;
  /** The release of the image that it boots. @default the newest that the simulator knows */
  readonly talosVersion?: string;
  /** Whoever else asks for this machine later, under another name, is refused. @default nobody: anybody may have it */
  readonly owner?: string;
}

/** Requests by name: what goes in and what comes out. Everything is JSON. */
export interface Requests {
  readonly "create-machine": { readonly input: CreateMachine; readonly output: SimulatedMachine };
  readonly "list-machines": { readonly input: Record<string, never>; readonly output: readonly SimulatedMachine[] };
  readonly "delete-machine": { readonly input: { readonly id: string }; readonly output: null };
  readonly "set-owner": { readonly input: { readonly id: string; readonly owner: string }; readonly output: null };
  readonly "set-power": { readonly input: { readonly id: string; readonly on: boolean }; readonly output: null };
  readonly "set-faults": {
    readonly input: { readonly id: string; readonly faults: readonly Fault[] };
    readonly output: null;
  };
  /** Without a text the machine has none any more. */
  readonly "set-user-data": {
    readonly input: { readonly id: string; readonly userData?: string | undefined };
    readonly output: null;
  };
  readonly shutdown: { readonly input: Record<string, never>; readonly output: null };
}

export type RequestName = keyof Requests;

/** The body of an answer that is an error. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request to the daemon. By Node's own client, not by fetch: that takes longer to load than a plan asks. */
export function post(daemon: DaemonRecord, name: string, body: string, milliseconds: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: "127.0.0.1",
        port: daemon.port,
        path: `/${name}`,
        method: "POST",
        agent: false,
        headers: {
          authorization: `Bearer ${daemon.token}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
        signal: AbortSignal.timeout(milliseconds),
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
        );
        response.on("error", reject);
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}
