// SPDX-License-Identifier: Apache-2.0
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
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

  private constructor(host: string, identity: Identity) {
    this.host = host;
    this.identity = identity;
  }

  static async open(lab: Laboratory, host: string): Promise<KubernetesClient> {
    const [data] = await collect<Data>(lab.machineApi(host).kubeconfig({}));
    const config = parse(untar(data?.bytes ?? new Uint8Array()).content) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");
    const user = config.users[0]?.user;
    return new KubernetesClient(host, {
      ca: decoded(config.clusters[0]?.cluster["certificate-authority-data"]),
      cert: decoded(user?.["client-certificate-data"]),
      key: keyForNode(decoded(user?.["client-key-data"])),
    });
  }

  call<T = Body>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer<T>> {
    const { ca, cert, key } = this.identity;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: this.host,
          port: 6443,
          method,
          path,
          ca,
          ...(options.anonymous ? {} : { cert, key }),
          agent: false,
          headers: { accept: options.accept ?? "application/json", "content-type": options.type ?? "application/json" },
        },
        (response) => {
          collect<Buffer>(response).then((chunks) => {
            const text = Buffer.concat(chunks).toString();
            const json = response.headers["content-type"]?.startsWith("application/json") ?? false;
            resolve({
              code: response.statusCode ?? 0,
              headers: response.headers,
              body: (json ? JSON.parse(text) : text) as T,
            });
          }, reject);
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    });
  }
}

export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("never");
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
