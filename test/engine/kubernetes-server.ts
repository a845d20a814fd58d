// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from "node:https";
import { afterEach, beforeEach } from "vitest";
import type { Kubernetes } from "../../engine/index.ts";
import { kubernetesOver } from "../../engine/kubernetes/index.ts";
import { systemEntropy } from "../../talos/clock.ts";
import { createCertificateAuthority, issueCertificate, type LeafOptions } from "../../talos/pki/index.ts";
import { VirtualTiming } from "./virtual-timing.ts";

const day = 86_400_000;
const clock = { now: () => new Date(Date.now() - day) };
const ca = createCertificateAuthority({
  organization: "kubernetes",
  kind: "ecdsa-p256",
  clock,
  entropy: systemEntropy,
});
const issue = (options: Pick<LeafOptions, "subject" | "usages" | "ipAddresses">) =>
  issueCertificate(
    ca,
    { ...options, notBefore: clock.now(), notAfter: new Date(Date.now() + day) },
    { entropy: systemEntropy },
  );
const serverPair = issue({
  subject: { commonName: "kube-apiserver" },
  usages: ["serverAuth"],
  ipAddresses: ["127.0.0.1"],
});
const clientPair = issue({
  subject: { commonName: "admin", organizations: ["system:masters"] },
  usages: ["clientAuth"],
});
const tls = {
  ca: ca.certificate,
  cert: serverPair.certificate,
  key: serverPair.key,
  requestCert: true,
  rejectUnauthorized: true,
};

/** A request as it came in. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly type: string | undefined;
}

interface KubernetesServer {
  /** All of this test, in order. */
  readonly calls: Call[];
  /** Status and body; 404 at the beginning of each test. */
  answer: (call: Call) => readonly [number, unknown];
  /** Our client: the first of its servers does not answer, the second one is this. */
  readonly kubernetes: Kubernetes;
  /** A kubeconfig, as Talos writes it. */
  readonly kubeconfig: string;
  readonly timing: VirtualTiming;
}

/** A Kubernetes API with real TLS that answers what each test of the file wants, and our client of it. */
export function kubernetesServer(): KubernetesServer {
  const timing = new VirtualTiming();
  let server: Server;
  let kubernetes: Kubernetes & { close(): void };
  const api = {
    calls: [] as Call[],
    answer: (_call: Call): readonly [number, unknown] => [404, {}],
    get kubernetes() {
      return kubernetes;
    },
    kubeconfig: "",
    timing,
  };
  beforeEach(async () => {
    api.calls = [];
    api.answer = () => [404, { message: "not found" }];
    server = createServer(tls, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const call: Call = {
          method: request.method ?? "",
          path: decodeURIComponent(request.url ?? ""),
          body: text === "" ? undefined : JSON.parse(text),
          type: request.headers["content-type"],
        };
        api.calls.push(call);
        const [status, body] = api.answer(call);
        response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const url = `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const access = { servers: ["https://127.0.0.1:1", url], ca: ca.certificate, ...clientPair };
    kubernetes = kubernetesOver(access, url, timing);
    const data = (text: string) => Buffer.from(text).toString("base64");
    api.kubeconfig = [
      `server: ${url}`,
      `certificate-authority-data: ${data(ca.certificate)}`,
      `client-certificate-data: ${data(clientPair.certificate)}`,
      `client-key-data: ${data(clientPair.key)}`,
    ].join("\n");
  });
  afterEach(async () => {
    kubernetes.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return api;
}
