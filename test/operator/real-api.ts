// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { kubernetesApi } from "../../engine/index.ts";
import { stringifyYaml } from "../../talos/yaml/index.ts";
import type { Access } from "./scene.ts";

/** The real programs, named by variables; undefined where one is not named. */
export const realPrograms = () => {
  const { TALOSMITH_TEST_KUBE_APISERVER: apiserver, TALOSMITH_TEST_ETCD: etcd } = process.env;
  return apiserver && etcd ? { apiserver, etcd } : undefined;
};

/** A real API server with its etcd, and the garbage collector where a kube-controller-manager lies beside it. */
export class RealApi {
  readonly folder: string;
  readonly access: Access;
  readonly #start: () => ChildProcess;
  #server: ChildProcess;
  readonly #others: readonly ChildProcess[];

  private constructor(
    folder: string,
    access: Access,
    start: () => ChildProcess,
    server: ChildProcess,
    others: readonly ChildProcess[],
  ) {
    this.folder = folder;
    this.access = access;
    this.#start = start;
    this.#server = server;
    this.#others = others;
  }

  static async open({ apiserver, etcd }: NonNullable<ReturnType<typeof realPrograms>>): Promise<RealApi> {
    const folder = mkdtempSync(join(tmpdir(), "talosmith-real-api-"));
    const [port, client, peer] = [await freePort(), await freePort(), await freePort()];
    const token = randomBytes(16).toString("hex");
    const { privateKey, publicKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const database = run(folder, "etcd", etcd, [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      "--unsafe-no-fsync",
    ]);
    const flags = [
      `--etcd-servers=http://127.0.0.1:${client}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, "certificates")}`,
      `--token-auth-file=${file("tokens.csv", `${token},admin,1,"system:masters"\n`)}`,
      "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${file("account.pub", publicKey)}`,
      `--service-account-signing-key-file=${file("account.key", privateKey)}`,
      "--service-cluster-ip-range=10.0.0.0/24",
      "--disable-admission-plugins=ServiceAccount",
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ];
    const start = () => run(folder, "kube-apiserver", apiserver, flags);
    const server = start();
    const servers = [`https://127.0.0.1:${port}`];
    const certificate = join(folder, "certificates/apiserver.crt");
    await until(async () => existsSync(certificate));
    const access: Access = { servers, ca: readFileSync(certificate, "utf8"), token: async () => token };
    await isUp(access);
    const manager = join(dirname(apiserver), "kube-controller-manager");
    const kubeconfig = file("kubeconfig", kubeconfigOf(servers[0] ?? "", access.ca, token));
    const others = existsSync(manager)
      ? [
          run(folder, "kube-controller-manager", manager, [
            `--kubeconfig=${kubeconfig}`,
            "--controllers=garbage-collector-controller,namespace-controller",
            "--leader-elect=false",
            "--secure-port=0",
          ]),
        ]
      : [];
    return new RealApi(folder, access, start, server, [...others, database]);
  }

  /** The API server is away; what it has stored stays. */
  async stopServer(): Promise<void> {
    await end(this.#server);
  }

  async startServer(): Promise<void> {
    this.#server = this.#start();
    await isUp(this.access);
  }

  async close(): Promise<void> {
    for (const child of [this.#server, ...this.#others]) await end(child);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(folder: string, name: string, program: string, flags: readonly string[]): ChildProcess {
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr?.pipe(createWriteStream(join(folder, `${name}.log`), { flags: "a" }));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(late);
}

async function isUp(access: Access): Promise<void> {
  const api = kubernetesApi(access);
  try {
    await until(
      async () => (await api.call("/readyz")) === "ok" && (await api.call("/api/v1/namespaces/default")) !== "",
    );
  } finally {
    api.close();
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error("the API server did not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

export function kubeconfigOf(server: string, ca: string, token: string): string {
  return stringifyYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
