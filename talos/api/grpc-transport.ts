// SPDX-License-Identifier: Apache-2.0
import { once } from "node:events";
import { isIP } from "node:net";
import { Client, type ClientOptions, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { TalosError } from "../errors.ts";
import { publicKeyFingerprint } from "../pki/index.ts";
import { grpcTarget, parseAddress } from "./address.ts";
import type { Authentication } from "./authentication.ts";
import { fingerprintMismatch, mutualCredentials, pinnedCredentials } from "./channel-credentials.ts";
import { Connections } from "./connections.ts";
import { fromGrpcError } from "./grpc-error.ts";
import { watchConnection } from "./heartbeat.ts";
import { MachineText } from "./machine-text.ts";
import { probe } from "./probe.ts";
import type { CallOptions, Transport } from "./transport.ts";

const defaultDeadline = 10_000;
const largestMessage = 32 * 1024 * 1024;

const channelOptions: ClientOptions = {
  "grpc.max_receive_message_length": largestMessage,
  "grpc.max_send_message_length": largestMessage,
  // A call must never be sent twice by the library: bootstrap and reset are not the same as no call.
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  // Connections of clients with other credentials are not ours to share.
  "grpc.use_local_subchannel_pool": 1,
  // Machines are reached directly; a proxy of the environment is for the web.
  "grpc.enable_http_proxy": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1000,
};

export interface TransportOptions {
  /** Milliseconds of silence on a stream after which the connection is tested. @default 10 seconds */
  readonly heartbeat?: number;
}

export interface GrpcTransport extends Transport {
  /** Fingerprint that the machine showed in maintenance mode; absent before the first call. */
  readonly fingerprint: string | undefined;
}

/** Opens nothing until the first call. After a call that could not be delivered, the next one connects afresh. */
export function grpcTransport(
  address: string,
  authentication: Authentication,
  { heartbeat = 10_000 }: TransportOptions = {},
): GrpcTransport {
  const target = parseAddress(address);
  const nameOf = ({ node }: CallOptions) => (node === undefined ? address : `${node} (through ${address})`);
  let opening: Promise<Client> | undefined;
  let current: Client | undefined;
  let fingerprint: string | undefined;
  const uses = new Map<Client, { calls: number; retired: boolean; readonly connections: Connections }>();

  const open = async (options: CallOptions): Promise<Client> => {
    if (authentication.kind === "mtls") {
      return newClient(mutualCredentials(authentication.credentials, target.host));
    }
    if ("certificate" in authentication) {
      fingerprint = publicKeyFingerprint(authentication.certificate);
      return newClient(pinnedCredentials(authentication.certificate, address));
    }
    const { deadline = defaultDeadline, signal } = options;
    const seen = await probe(address, { deadline, signal });
    if ("fingerprints" in authentication && !authentication.fingerprints.includes(seen.fingerprint)) {
      throw fingerprintMismatch(address, seen.fingerprint, authentication.fingerprints);
    }
    fingerprint = seen.fingerprint;
    return newClient(pinnedCredentials(seen.certificate, address));
  };
  const newClient = (credentials: ReturnType<typeof mutualCredentials>) => {
    const connections = new Connections();
    // TLS forbids an IP address as server name; the identity check above looks at the real host.
    const options =
      isIP(target.host) === 0 ? channelOptions : { ...channelOptions, "grpc.ssl_target_name_override": "talos" };
    const opened = new Client(grpcTarget(target), connections.follow(credentials), options);
    uses.set(opened, { calls: 0, retired: false, connections });
    return opened;
  };
  const client = (options: CallOptions): Promise<Client> => {
    if (opening === undefined) {
      const started = open(options);
      opening = started;
      started.then(
        (opened) => {
          if (opening === started) current = opened;
        },
        () => {
          if (opening === started) opening = undefined;
        },
      );
    }
    return opening;
  };
  const end = (used: Client) => {
    used.close();
    uses.get(used)?.connections.close();
    uses.delete(used);
  };
  /** Calls that are under way on a client that is not to be used again come to their end; the last one ends it. */
  const retire = (used: Client) => {
    const use = uses.get(used);
    if (use === undefined) return;
    use.retired = true;
    if (use.calls === 0) end(used);
  };
  const begun = (used: Client) => {
    const use = uses.get(used);
    if (use !== undefined) use.calls += 1;
  };
  const ended = (used: Client) => {
    const use = uses.get(used);
    if (use === undefined) return;
    use.calls -= 1;
    if (use.retired) retire(used);
  };
  /** A connection whose peer went away without a word looks alive for minutes: after a lost call, take a new one. */
  const forget = (used: Client) => {
    if (current === used) {
      current = undefined;
      opening = undefined;
    }
    retire(used);
  };
  const failed = (error: unknown, used: Client, options: CallOptions): TalosError => {
    const name = nameOf(options);
    const ours = unlessByOther(fromGrpcError(error, name), name, options.signal);
    if (ours.retryable || (ours.code === "permission-denied" && isHandshakeFailure(error))) forget(used);
    return ours;
  };

  return {
    node: address,
    get fingerprint() {
      return fingerprint;
    },
    async unary(method, request, options = {}) {
      const used = await client(options);
      begun(used);
      return new Promise((resolve, reject) => {
        const call = used.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          deserializer(method),
          request,
          metadataOf(options),
          { deadline: Date.now() + (options.deadline ?? defaultDeadline) },
          (error, reply) => {
            ended(used);
            options.signal?.removeEventListener("abort", cancel);
            if (error) reject(failed(error, used, options));
            else if (reply === undefined) reject(emptyReply(nameOf(options)));
            else resolve(reply);
          },
        );
        const cancel = () => call.cancel();
        followSignal(options.signal, cancel);
      });
    },
    async *serverStream<Request, Reply>(
      method: MethodDefinition<Request, Reply>,
      request: Request,
      options: CallOptions = {},
    ) {
      const used = await client(options);
      begun(used);
      const call = used.makeServerStreamRequest(
        method.path,
        method.requestSerialize,
        deserializer(method),
        request,
        metadataOf(options),
        options.deadline === undefined ? {} : { deadline: Date.now() + options.deadline },
      );
      const cancel = () => call.cancel();
      followSignal(options.signal, cancel);
      let lost = false;
      const watch = watchConnection(used, heartbeat, () => {
        lost = true;
        call.cancel();
      });
      try {
        for await (const reply of call) {
          watch.seen();
          yield reply as Reply;
        }
      } catch (error) {
        if (!lost) throw failed(error, used, options);
        forget(used);
        const node = nameOf(options);
        throw new TalosError("unavailable", `${node}: the machine has fallen silent`, { node, cause: error });
      } finally {
        watch.stop();
        options.signal?.removeEventListener("abort", cancel);
        // After an early return the library reports the cancellation as an error that nobody waits for.
        call.on("error", () => {});
        call.cancel();
        ended(used);
      }
    },
    async clientStream(method, requests, options = {}) {
      const used = await client(options);
      begun(used);
      const answered = new AbortController();
      return new Promise((resolve, reject) => {
        const call = used.makeClientStreamRequest(
          method.path,
          method.requestSerialize,
          deserializer(method),
          metadataOf(options),
          options.deadline === undefined ? {} : { deadline: Date.now() + options.deadline },
          (error, reply) => {
            answered.abort();
            ended(used);
            options.signal?.removeEventListener("abort", cancel);
            if (error) reject(failed(error, used, options));
            else if (reply === undefined) reject(emptyReply(nameOf(options)));
            else resolve(reply);
          },
        );
        const cancel = () => call.cancel();
        followSignal(options.signal, cancel);
        const send = async () => {
          for await (const request of requests) {
            // Nobody drains a call that was answered early; whoever reads a file for it must come to an end all the same.
            if (!call.write(request)) await once(call, "drain", { signal: answered.signal });
          }
          call.end();
        };
        send().catch((error) => {
          call.cancel();
          reject(TalosError.from(error));
        });
      });
    },
    close() {
      const started = opening;
      opening = undefined;
      current = undefined;
      for (const used of uses.keys()) end(used);
      started?.then(end, () => {});
    },
  };
}

/** The generated code takes a reader in the place of the bytes. */
function deserializer<Reply>({ responseDeserialize }: Pick<MethodDefinition<unknown, Reply>, "responseDeserialize">) {
  return (bytes: Buffer): Reply => responseDeserialize(new MachineText(bytes) as unknown as Buffer);
}

function emptyReply(node: string): TalosError {
  return new TalosError("internal", `${node}: an empty reply`, { node });
}

function followSignal(signal: AbortSignal | undefined, cancel: () => void): void {
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
}

function metadataOf(options: CallOptions): Metadata {
  const metadata = new Metadata();
  metadata.set("runtime", "Talos");
  if (options.node !== undefined) metadata.set("node", options.node);
  for (const node of options.nodes ?? []) metadata.add("nodes", node);
  return metadata;
}

/** A machine that shuts down cancels the calls that it is answering; only our own signal means that we gave up. */
function unlessByOther(error: TalosError, node: string, signal: AbortSignal | undefined): TalosError {
  if (error.code !== "canceled" || signal?.aborted) return error;
  return new TalosError("unavailable", `${node}: the machine has cancelled the call`, { node, cause: error });
}

function isHandshakeFailure(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "details" in error &&
    /No connection established/.test(String(error.details))
  );
}
