// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { fromNodeError } from "../../talos/api/index.ts";
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { parsePlainJson, plainText } from "../../talos/plain-text.ts";

/** A client certificate, or a token that is asked for anew with every call, because it changes. Certificates are PEM texts. */
export type KubernetesAccess = {
  /** URLs to try, the likeliest first. */
  readonly servers: readonly string[];
  readonly ca: string;
} & ({ readonly certificate: string; readonly key: string } | { readonly token: () => Promise<string> });

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  readonly body?: unknown;
  /** Of the body. @default JSON, and for PATCH a JSON merge patch */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Ask this server and no other. */
  readonly server?: string;
}

export interface KubernetesApi {
  readonly servers: readonly string[];
  /** The answer as JSON, or as text where it is none. Throws TalosError: 404 is `not-found`, 409 and 429 `conflict`. */
  call(path: string, options?: RequestOptions): Promise<unknown>;
  /**
   * The changes of a watch, as JSON, until the server ends it. A refused watch throws, but for one that begins too far
   * back: its answer comes as an event of type ERROR, as it does in the middle of one.
   */
  watch(path: string, options?: Pick<RequestOptions, "signal">): AsyncIterable<unknown>;
  close(): void;
}

const deadline = 5000;
/** A watch is silent for minutes, until the server ends it. */
const watchDeadline = 10 * 60_000;
const largestAnswer = 64 * 1024 * 1024;

/** A small client of the Kubernetes API. It stays with the server that answered last and moves on when it is gone. */
export function kubernetesApi(access: KubernetesAccess): KubernetesApi {
  const own = "token" in access ? {} : { cert: access.certificate, key: access.key };
  const agent = new Agent({ keepAlive: true, ca: access.ca, ...own, maxSockets: 8 });
  // A watch keeps its connection for itself.
  const watchers = new Agent({ keepAlive: true, ca: access.ca, ...own });
  const ask = async (server: string, path: string, options: RequestOptions) =>
    send(server, path, options, agent, "token" in access ? { authorization: `Bearer ${await access.token()}` } : {});
  let preferred = access.servers[0];
  return {
    servers: access.servers,
    async call(path, options = {}) {
      if (options.server !== undefined) return ask(options.server, path, options);
      const order = [...new Set([preferred, ...access.servers])].filter((server) => server !== undefined);
      let last: TalosError | undefined;
      for (const server of order) {
        try {
          const answer = await ask(server, path, options);
          preferred = server;
          return answer;
        } catch (error) {
          last = TalosError.from(error);
          // Anything but silence is the cluster's answer; another server would say the same. A certificate is not.
          if (last.code !== "unavailable" && !isCertificateFault(last)) throw last;
        }
      }
      throw last ?? new TalosError("internal", "no Kubernetes server to ask");
    },
    async *watch(path, options = {}) {
      const [server = ""] = [preferred, ...access.servers];
      const authorization = "token" in access ? { authorization: `Bearer ${await access.token()}` } : {};
      const response = await open(server, path, { ...options, timeout: watchDeadline }, watchers, authorization);
      try {
        yield* changesIn(response, `GET ${path}`);
      } catch (cause) {
        if (options.signal?.aborted) throw new TalosError("canceled", `${server}: canceled`, { cause });
        throw cause instanceof TalosError ? cause : fromNodeError(cause, server);
      } finally {
        response.destroy();
      }
    },
    close: () => {
      agent.destroy();
      watchers.destroy();
    },
  };
}

async function* changesIn(response: IncomingMessage, what: string): AsyncGenerator<unknown> {
  const status = response.statusCode ?? 0;
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const lines = `${rest}${String(chunk)}`.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > largestAnswer) throw new Error("the answer is too large");
    if (status === 200) for (const line of lines) if (line !== "") yield parsePlainJson(line);
  }
  if (status === 200) return;
  if (status !== 410) throw statusError(status, rest, what);
  yield { type: "ERROR", object: parse(rest) };
}

/** TLS failed: the errors of sockets carry a cause, the answers of servers do not. */
export function isCertificateFault(error: TalosError): boolean {
  return error.cause !== undefined && ["permission-denied", "failed-precondition"].includes(error.code);
}

interface OpenOptions extends RequestOptions {
  /** Milliseconds without a byte. */
  readonly timeout: number;
}

/** The answer as soon as it begins. */
function open(
  server: string,
  path: string,
  options: OpenOptions,
  agent: Agent,
  authorization: { readonly authorization?: string },
): Promise<IncomingMessage> {
  const { method = "GET", body, signal, timeout } = options;
  const { contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json" } = options;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, server), {
      method,
      agent,
      timeout,
      ...given({ signal }),
      headers: {
        accept: "application/json",
        ...authorization,
        ...(payload !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
      },
    });
    call.once("timeout", () => call.destroy(new Error("no answer in time")));
    call.once("error", (cause) => {
      if (signal?.aborted) reject(new TalosError("canceled", `${server}: canceled`, { cause }));
      else reject(fromNodeError(cause, server));
    });
    call.once("response", resolve);
    call.end(payload);
  });
}

async function send(
  server: string,
  path: string,
  options: RequestOptions,
  agent: Agent,
  authorization: { readonly authorization?: string },
): Promise<unknown> {
  const { method = "GET", signal } = options;
  const response = await open(server, path, { ...options, timeout: deadline }, agent, authorization);
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown) => {
      if (signal?.aborted) return reject(new TalosError("canceled", `${server}: canceled`, { cause }));
      reject(fromNodeError(cause, server));
    };
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > largestAnswer) response.destroy(new Error("the answer is too large"));
      else chunks.push(chunk);
    });
    response.once("error", failed);
    response.once("end", () => {
      const text = Buffer.concat(chunks).toString();
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) resolve(parse(text));
      else reject(statusError(status, text, `${method} ${path}`));
    });
  });
}

const codes: Readonly<Record<number, TalosErrorCode>> = {
  401: "permission-denied",
  403: "permission-denied",
  404: "not-found",
  408: "unavailable",
  409: "conflict",
  410: "unavailable",
  429: "conflict",
};

/** Answers with code 500 that stay the same however often one asks. */
const lasting = /field not declared in schema|failed to create typed|more than one PodDisruptionBudget/;

function codeOf(status: number, message: string): TalosErrorCode {
  const known = codes[status];
  if (known !== undefined) return known;
  return status < 500 || lasting.test(message) ? "invalid-input" : "unavailable";
}

function statusError(status: number, text: string, what: string): TalosError {
  const answer = parse(text);
  const message =
    typeof answer === "object" && answer !== null && "message" in answer ? String(answer.message) : text.slice(0, 200);
  return new TalosError(codeOf(status, message), `Kubernetes: ${what}: ${status} ${message}`);
}

function parse(text: string): unknown {
  try {
    return parsePlainJson(text);
  } catch {
    // readyz and its like answer plain text.
    return plainText(text);
  }
}
