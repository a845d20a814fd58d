// SPDX-License-Identifier: Apache-2.0
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { parse } from "yaml";
import type { Data } from "../../talos/api/gen/common/common.ts";
import { keyForNode } from "../../talos/pki/index.ts";
import { collect, type Laboratory, untar } from "./laboratory.ts";

interface Identity {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Answer<T> {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: T;
}

export interface CallOptions {
  readonly type?: string;
  readonly accept?: string;
  readonly anonymous?: boolean;
  /** The body is lines of JSON, as of a watch: they become a list. */
  readonly stream?: boolean;
}

/** As much of any Kubernetes answer as tests look into. */
export interface Body {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly generation?: number;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly status: {
    readonly phase?: string;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    readonly [field: string]: unknown;
  };
  readonly items: readonly Body[];
  readonly gitVersion: string;
  readonly groups: readonly { readonly name: string }[];
  readonly resources: readonly unknown[];
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly string[] }[];
  readonly message: string;
}

/** A plain HTTPS client with the admin kubeconfig that a control plane gives out. */
export class KubernetesClient {
  readonly host: string;
  readonly identity: Identity;
  /** A handshake per request would be most of its time. */
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(host: string, identity: Identity) {
    this.host = host;
    this.identity = identity;
  }

  static async open(lab: Laboratory, host: string): Promise<KubernetesClient> {
    const [data] = await collect<Data>(lab.machineApi(host).kubeconfig({}));
    return KubernetesClient.of(untar(data?.bytes ?? new Uint8Array()).content, host);
  }

  /** By the first cluster and user of a kubeconfig. @param host another one than its server's */
  static of(kubeconfig: string, host?: string): KubernetesClient {
    const config = parse(kubeconfig) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");
    const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
    return new KubernetesClient(host ?? new URL(cluster?.server ?? "").hostname, {
      ca: decoded(cluster?.["certificate-authority-data"]),
      cert: decoded(user?.["client-certificate-data"]),
      key: keyForNode(decoded(user?.["client-key-data"])),
    });
  }

  call<T = Body>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer<T>> {
    const { ca, cert, key } = this.identity;
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: this.host,
          port: 6443,
          method,
          path,
          ca,
          ...(options.anonymous ? {} : { cert, key }),
          agent: options.anonymous ? false : this.#agent,
          headers: {
            accept: options.accept ?? "application/json",
            "content-type": options.type ?? "application/json",
            // Node itself announces no body of a DELETE.
            "content-length": Buffer.byteLength(text),
          },
        },
        (response) => {
          collect<Buffer>(response)
            .then((chunks) => {
              const { statusCode: code = 0, headers } = response;
              const json = headers["content-type"]?.startsWith("application/json") ?? false;
              const answer = Buffer.concat(chunks).toString();
              resolve({ code, headers, body: (json ? parsed(answer, options.stream) : answer) as T });
            })
            .catch(reject);
        },
      );
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }
}

function parsed(text: string, stream = false): unknown {
  if (!stream) return JSON.parse(text);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
}

export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("never");
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
