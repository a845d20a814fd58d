// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import type { KubernetesApi, RequestOptions } from "./api.ts";
import type { ObjectReference } from "./resource-paths.ts";

export const inventoryName = "talos-bootstrap-manifests-inventory";
export const ownerAnnotation = "config.k8s.io/owning-inventory";

const collection = "/api/v1/namespaces/kube-system/configmaps";
const schema = z.object({ data: z.record(z.string(), z.string()).default({}) });

type Options = Pick<RequestOptions, "signal">;

/** What Talos has ever applied: a config map with one key per object, as Talos and talosctl keep it. */
export class Inventory {
  readonly #api: KubernetesApi;
  readonly #options: Options;
  readonly #keys: Set<string>;

  private constructor(api: KubernetesApi, options: Options, keys: readonly string[]) {
    this.#api = api;
    this.#options = options;
    this.#keys = new Set(keys);
  }

  static async open(api: KubernetesApi, options: Options): Promise<Inventory> {
    try {
      const { data } = schema.parse(await api.call(`${collection}/${inventoryName}`, options));
      return new Inventory(api, options, Object.keys(data));
    } catch (error) {
      if (!(error instanceof TalosError) || error.code !== "not-found") throw error;
      await api.call(collection, { ...options, method: "POST", body: configMap([]) });
      return new Inventory(api, options, []);
    }
  }

  async add(references: readonly ObjectReference[]): Promise<void> {
    const before = this.#keys.size;
    for (const reference of references) this.#keys.add(keyOf(reference));
    if (this.#keys.size > before) await this.#write();
  }

  async remove(reference: ObjectReference): Promise<void> {
    if (this.#keys.delete(keyOf(reference))) await this.#write();
  }

  /** What it lists beside these. */
  without(references: readonly ObjectReference[]): readonly ObjectReference[] {
    const kept = new Set(references.map(keyOf));
    return [...this.#keys].filter((key) => !kept.has(key)).flatMap((key) => parseKey(key) ?? []);
  }

  async #write(): Promise<void> {
    const path = `${collection}/${inventoryName}`;
    await this.#api.call(path, { ...this.#options, method: "PUT", body: configMap([...this.#keys]) });
  }
}

function configMap(keys: readonly string[]) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: inventoryName, namespace: "kube-system" },
    data: Object.fromEntries(keys.map((key) => [key, ""])),
  };
}

/** Colons, which names of roles may have, are not allowed in keys. */
function keyOf({ namespace, name, group, kind }: ObjectReference): string {
  return [namespace, name.replaceAll(":", "__"), group, kind].join("_");
}

function parseKey(key: string): ObjectReference | undefined {
  const match = /^([^_]*)_(.*)_([^_]*)_([^_]+)$/.exec(key);
  if (match === null) return undefined;
  const [, namespace = "", name = "", group = "", kind = ""] = match;
  return { namespace, name: name.replaceAll("__", ":"), group, kind };
}
