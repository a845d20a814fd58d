// SPDX-License-Identifier: Apache-2.0

import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { undefinedIf } from "../failures.ts";
import type { ManifestChange, ManifestObject } from "../machines.ts";
import type { KubernetesApi, RequestOptions } from "./api.ts";
import { readObject } from "./kept-objects.ts";
import { type ObjectReference, ResourcePaths, referenceOf } from "./resource-paths.ts";

type Options = Pick<RequestOptions, "signal">;

/** Talos's own name as an owner of fields: with it our writes and its own are those of one manager. */
const manager = "talos";
const inventoryName = "talos-bootstrap-manifests-inventory";
const ownerAnnotation = "config.k8s.io/owning-inventory";

/** Makes the cluster's objects what the manifests say, namespaces and definitions first. Answers what was changed. */
export async function syncManifests(
  api: KubernetesApi,
  objects: readonly ManifestObject[],
  inventory: boolean,
  signal?: AbortSignal,
): Promise<readonly ManifestChange[]> {
  const options = { signal };
  const paths = new ResourcePaths(api, options);
  const ordered = [...objects].sort((a, b) => rank(a) - rank(b));
  if (inventory) return syncByInventory(api, paths, ordered, options);
  const changes: ManifestChange[] = [];
  for (const object of ordered) changes.push(...(await update(api, paths, object, options)));
  return changes;
}

/** What others need comes first. */
function rank({ kind }: ManifestObject): number {
  const index = ["Namespace", "CustomResourceDefinition", "ClusterRole"].indexOf(String(kind));
  return index === -1 ? 3 : index;
}

async function syncByInventory(
  api: KubernetesApi,
  paths: ResourcePaths,
  objects: readonly ManifestObject[],
  options: Options,
): Promise<ManifestChange[]> {
  const inventory = await Inventory.open(api, options);
  const changes: ManifestChange[] = [];
  const applied: ObjectReference[] = [];
  for (const object of objects) {
    changes.push(...(await apply(api, paths, object, options)));
    applied.push(referenceOf(object));
  }
  await inventory.add(applied);
  for (const gone of inventory.without(applied)) {
    const path = await paths.ofReference(gone);
    const live = path === undefined ? undefined : await find(api, path, options);
    if (path !== undefined && live !== undefined) {
      refuseForeign(live, subjectOf(live));
      await api.call(`${path}?propagationPolicy=Background`, { ...options, method: "DELETE" });
      changes.push({ action: "deleted", subject: subjectOf(live) });
    }
    await inventory.remove(gone);
  }
  return changes;
}

/** Server-side apply, with a rehearsal first: an object that would stay as it is, is left alone. */
async function apply(
  api: KubernetesApi,
  paths: ResourcePaths,
  object: ManifestObject,
  options: Options,
): Promise<ManifestChange[]> {
  const path = await paths.of(object);
  const subject = subjectOf(object);
  const live = await find(api, path, options);
  if (live !== undefined) refuseForeign(live, subject);
  const metadata = recordOf(object.metadata);
  const annotations = { ...recordOf(metadata.annotations), [ownerAnnotation]: inventoryName };
  const request = {
    ...options,
    method: "PATCH",
    contentType: "application/apply-patch+yaml",
    body: { ...object, metadata: { ...metadata, annotations } },
  } as const;
  const query = `fieldManager=${manager}&force=true`;
  if (live !== undefined) {
    const rehearsed = await api.call(`${path}?${query}&dryRun=All`, request);
    if (isDeepStrictEqual(essence(live), essence(recordOf(rehearsed)))) return [];
  }
  await api.call(`${path}?${query}`, request);
  return [{ action: live === undefined ? "created" : "configured", subject }];
}

/** The way before Talos 1.13: the whole object is replaced. */
async function update(
  api: KubernetesApi,
  paths: ResourcePaths,
  object: ManifestObject,
  options: Options,
): Promise<ManifestChange[]> {
  const path = await paths.of(object);
  const subject = subjectOf(object);
  const live = await find(api, path, options);
  if (live === undefined) {
    await api.call(path.slice(0, path.lastIndexOf("/")), { ...options, method: "POST", body: object });
    return [{ action: "created", subject }];
  }
  const { resourceVersion } = recordOf(live.metadata);
  const body = { ...object, metadata: { ...recordOf(object.metadata), resourceVersion } };
  const rehearsed = await api.call(`${path}?dryRun=All`, { ...options, method: "PUT", body });
  if (isDeepStrictEqual(essence(live), essence(recordOf(rehearsed)))) return [];
  await api.call(path, { ...options, method: "PUT", body });
  return [{ action: "configured", subject }];
}

function find(api: KubernetesApi, path: string, options: Options): Promise<ManifestObject | undefined> {
  return api.call(path, options).then(recordOf, undefinedIf("not-found"));
}

/** An object without what the server writes by itself. */
function essence(object: ManifestObject): ManifestObject {
  const { status: _status, secrets: _secrets, ...rest } = object;
  const metadata = recordOf(object.metadata);
  const annotations = Object.entries(recordOf(metadata.annotations)).filter(([key]) => !key.includes("kubernetes.io/"));
  return {
    ...rest,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      labels: metadata.labels ?? {},
      annotations: Object.fromEntries(annotations),
    },
  };
}

function refuseForeign(live: ManifestObject, subject: string): void {
  const owner = recordOf(recordOf(live.metadata).annotations)[ownerAnnotation];
  if (owner === undefined || owner === inventoryName) return;
  throw new TalosError("invalid-input", `${subject} belongs to the inventory ${String(owner)}, not to Talos`, {
    hint: `Delete its annotation ${ownerAnnotation} if Talos shall take it over, or switch it off in the machine config.`,
  });
}

function subjectOf({ kind, metadata }: ManifestObject): string {
  const { name, namespace } = recordOf(metadata);
  return [kind, namespace, name].filter((part) => typeof part === "string" && part !== "").join("/");
}

const record = z.record(z.string(), z.unknown());

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return record.safeParse(value).data ?? {};
}

const collection = "/api/v1/namespaces/kube-system/configmaps";

/** What Talos has ever applied: a config map with one key per object, as Talos and talosctl keep it. */
class Inventory {
  readonly #api: KubernetesApi;
  readonly #options: Options;
  readonly #keys: Set<string>;

  private constructor(api: KubernetesApi, options: Options, keys: readonly string[]) {
    this.#api = api;
    this.#options = options;
    this.#keys = new Set(keys);
  }

  static async open(api: KubernetesApi, options: Options): Promise<Inventory> {
    const found = await readObject(api, `${collection}/${inventoryName}`, options);
    if (found === undefined) await api.call(collection, { ...options, method: "POST", body: configMap([]) });
    return new Inventory(api, options, Object.keys(found?.data ?? {}));
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
