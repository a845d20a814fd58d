// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetesApi, systemTiming } from "../../engine/index.ts";
import { customResourceDefinitions } from "../../operator/definitions/index.ts";
import { operateObjects } from "../../operator/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { TalosError } from "../../talos/errors.ts";
import { type LogEntry, StatusRecord } from "../../watch/index.ts";
import { testContext } from "../support/command-context.ts";

export type Access = Parameters<typeof kubernetesApi>[0];
export type Api = ReturnType<typeof kubernetesApi>;

/** As much of an object as tests look into. */
export interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly reason?: string;
  readonly message?: string;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly [field: string]: unknown;
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

const plurals: Readonly<Record<string, string>> = {
  TalosCluster: "talosclusters",
  TalosMachinePool: "talosmachinepools",
  TalosMachine: "talosmachines",
  TalosEtcdBackup: "talosetcdbackups",
  TalosEtcdBackupSchedule: "talosetcdbackupschedules",
  TalosClusterAddon: "talosclusteraddons",
};
const apiVersion = "talosmith.dev/v1alpha1";

export const conditionOf = (thing: Thing | undefined, type: string): Condition | undefined =>
  thing?.status?.conditions?.find((condition) => condition.type === type);

/** Ready, and of the present spec: what `kubectl wait --for=condition=Ready` waits for. */
export const isReady = (thing: Thing | undefined): boolean => {
  const ready = conditionOf(thing, "Ready");
  return ready?.status === "True" && ready.observedGeneration === thing?.metadata.generation;
};

export interface Operator {
  readonly record: StatusRecord;
  stop(): Promise<void>;
}

interface OperateOptions {
  readonly folder?: string;
  readonly access?: Access;
  readonly env?: Readonly<Record<string, string>>;
}

/** The simulators of clusters of kind simulated outlive the operator that has started them. */
function endSimulators(folder: string): void {
  const records = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("generated/.simulator/daemon.json"),
  );
  for (const record of records) {
    const { pid } = JSON.parse(readFileSync(join(folder, record), "utf8")) as { pid: number };
    process.kill(pid);
  }
}

/** A namespace of an API server, with the custom resources and operators that tests start and stop. */
export class Scene {
  readonly api: Api;
  readonly access: Access;
  readonly namespace: string;
  readonly folder = mkdtempSync(join(tmpdir(), "talosmith-objects-"));
  readonly log: LogEntry[] = [];
  readonly #operators: Operator[] = [];

  private constructor(access: Access, namespace: string) {
    this.access = access;
    this.api = kubernetesApi(access);
    this.namespace = namespace;
  }

  static async open(access: Access, namespace = "clusters"): Promise<Scene> {
    const scene = new Scene(access, namespace);
    await scene.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const definition of customResourceDefinitions())
      await scene.applyAt(`${definitions}/${definition.metadata.name}`, definition);
    await scene.until("the definitions are served", async () => {
      for (const plural of Object.values(plurals)) await scene.api.call(scene.#path(plural));
      return true;
    });
    return scene;
  }

  async close(): Promise<void> {
    for (const operator of [...this.#operators]) await operator.stop();
    this.api.close();
    endSimulators(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Starts an operator, with a folder of its own unless this one is given: a pod loses its folder. */
  operate(options: OperateOptions = {}): Operator {
    const stop = new AbortController();
    const record = new StatusRecord();
    record.leading = true;
    const api = kubernetesApi(options.access ?? this.access);
    const folder = options.folder ?? mkdtempSync(join(this.folder, "operator-"));
    const context = {
      ...testContext({
        clock: systemClock,
        signal: stop.signal,
        env: { PATH: process.env.PATH, TMPDIR: tmpdir(), ...options.env },
      }),
    };
    const ended = operateObjects({
      api,
      namespace: this.namespace,
      folder,
      context,
      record,
      log: (entry) => this.log.push(entry),
      timing: systemTiming,
      entropy: systemEntropy,
      signal: stop.signal,
    });
    const operator: Operator = {
      record,
      stop: async () => {
        stop.abort();
        await ended;
        api.close();
        this.#operators.splice(this.#operators.indexOf(operator), 1);
      },
    };
    this.#operators.push(operator);
    return operator;
  }

  /** Applies an object server-side, as kubectl and GitOps tools do. */
  apply(kind: string, name: string, spec: unknown, metadata: object = {}): Promise<Thing> {
    const body = { apiVersion, kind, metadata: { ...metadata, name, namespace: this.namespace }, spec };
    return this.applyAt(this.pathOf(kind, name), body);
  }

  async applyAt(path: string, body: unknown): Promise<Thing> {
    const contentType = "application/apply-patch+yaml";
    return (await this.api.call(`${path}?fieldManager=test&force=true`, {
      method: "PATCH",
      body,
      contentType,
    })) as Thing;
  }

  async patch(kind: string, name: string, body: unknown, subresource = ""): Promise<Thing> {
    return (await this.api.call(`${this.pathOf(kind, name)}${subresource}`, { method: "PATCH", body })) as Thing;
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.api.call(this.pathOf(kind, name), { method: "DELETE" });
  }

  async get(kind: string, name: string): Promise<Thing | undefined> {
    return this.at(this.pathOf(kind, name));
  }

  async list(kind: string): Promise<readonly Thing[]> {
    return this.itemsAt(this.#path(plurals[kind] ?? ""));
  }

  async secret(name: string): Promise<Thing | undefined> {
    return this.at(`/api/v1/namespaces/${this.namespace}/secrets/${name}`);
  }

  async events(name: string): Promise<readonly string[]> {
    const items = await this.itemsAt(`/api/v1/namespaces/${this.namespace}/events`);
    return items.flatMap((item) =>
      (item as unknown as { involvedObject: { name: string } }).involvedObject.name === name ? [item.reason ?? ""] : [],
    );
  }

  async at(path: string): Promise<Thing | undefined> {
    return this.api.call(path).then(
      (answer) => answer as Thing,
      (error: unknown) => {
        if (TalosError.from(error).code === "not-found") return undefined;
        throw error;
      },
    );
  }

  async itemsAt(path: string): Promise<readonly Thing[]> {
    return ((await this.api.call(path)) as { items: readonly Thing[] }).items;
  }

  /** Waits until the object is as asked; what it is and what was logged is in the error. */
  async eventually(
    kind: string,
    name: string,
    holds: (thing: Thing | undefined) => boolean,
    seconds = 30,
  ): Promise<Thing> {
    let last: Thing | undefined;
    await this.until(
      () => `${kind} ${name} did not become so: ${JSON.stringify(last?.status ?? last, undefined, 1)}`,
      async () => {
        last = await this.get(kind, name);
        return holds(last);
      },
      seconds,
    );
    return last as Thing;
  }

  async until(what: string | (() => string), holds: () => Promise<boolean>, seconds = 30): Promise<void> {
    const deadline = Date.now() + seconds * 1_000;
    for (let error: unknown; ; ) {
      try {
        if (await holds()) return;
      } catch (failure) {
        error = failure;
      }
      if (Date.now() > deadline) {
        const told = this.log
          .slice(-30)
          .map(({ level, environment = "", message }) => `${level} ${environment} ${message}`);
        throw new Error(`${typeof what === "string" ? what : what()}\n${String(error ?? "")}\n${told.join("\n")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  pathOf(kind: string, name: string): string {
    return `${this.#path(plurals[kind] ?? "")}/${name}`;
  }

  async create(path: string, body: unknown): Promise<void> {
    await this.api.call(path, { method: "POST", body }).catch((error: unknown) => {
      if (TalosError.from(error).code !== "conflict") throw error;
    });
  }

  #path(plural: string): string {
    return `/apis/${apiVersion}/namespaces/${this.namespace}/${plural}`;
  }
}
