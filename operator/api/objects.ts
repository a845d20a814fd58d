// SPDX-License-Identifier: Apache-2.0
// Objects of the Kubernetes API as controllers use them: a kind at a time, read at the edge.
import * as z from "zod";
import type { KubernetesApi } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { apiVersion, type KindName, type Metadata, type ObjectOf, plurals } from "../kinds/common.ts";

export type AnyObject = ObjectOf<unknown, unknown>;

export const fieldManager = "talosmith";

/** What a watch reports. */
export type Change =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: unknown }
  | { readonly type: "BOOKMARK"; readonly version: string }
  /** The version that the watch began at is too old: everything has to be listed again. */
  | { readonly type: "EXPIRED" };

const list = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()),
});

const event = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED"]), object: z.unknown() }),
  z.object({
    type: z.literal("BOOKMARK"),
    object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) }),
  }),
  z.object({
    type: z.literal("ERROR"),
    object: z.looseObject({ code: z.number().optional(), message: z.string().optional() }),
  }),
]);

/** The server ends a watch after so long, so that none is silent for ever. */
const watchSeconds = 300;

/** The objects of one kind, in one namespace or in all. */
export class Objects<T extends AnyObject> {
  readonly kind: KindName;
  readonly #api: KubernetesApi;
  readonly #namespace: string | undefined;
  readonly #read: (value: unknown) => T;

  constructor(api: KubernetesApi, kind: KindName, namespace: string | undefined, read: (value: unknown) => T) {
    this.#api = api;
    this.kind = kind;
    this.#namespace = namespace;
    this.#read = read;
  }

  /** Undefined for an object that does not have the form of its kind: another version may have written it. */
  parse(value: unknown): T | undefined {
    try {
      return this.#read(value);
    } catch (error) {
      if (error instanceof z.ZodError) return undefined;
      throw error;
    }
  }

  /** All of them, a page at a time, and the version to watch from. */
  async list(signal: AbortSignal): Promise<{ readonly objects: readonly T[]; readonly version: string }> {
    const objects: T[] = [];
    for (let next: string | undefined = ""; ; ) {
      const query = new URLSearchParams({ limit: "500", ...(next && { continue: next }) });
      const page = list.parse(await this.#api.call(`${this.#collection()}?${query}`, { signal }));
      for (const item of page.items) {
        const object = this.parse(item);
        if (object !== undefined) objects.push(object);
      }
      next = page.metadata.continue;
      if (!next) return { objects, version: page.metadata.resourceVersion };
    }
  }

  async *watch(version: string, signal: AbortSignal): AsyncGenerator<Change> {
    const query = new URLSearchParams({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: version,
      timeoutSeconds: String(watchSeconds),
    });
    for await (const line of this.#api.watch(`${this.#collection()}?${query}`, { signal })) {
      const read = event.parse(line);
      if (read.type === "BOOKMARK") yield { type: "BOOKMARK", version: read.object.metadata.resourceVersion };
      else if (read.type !== "ERROR") yield { type: read.type, object: read.object };
      else if (read.object.code === 410) return yield { type: "EXPIRED" };
      else throw new TalosError("unavailable", `Kubernetes: the watch ended: ${read.object.message ?? "no reason"}`);
    }
  }

  async get({ namespace, name }: ObjectId, signal?: AbortSignal): Promise<T> {
    return this.#read(await this.#api.call(this.#path({ namespace, name }), { signal }));
  }

  /** Creates the object, or sets these fields on it, also where another manager owns them. */
  async apply(id: ObjectId, fields: Fields, signal?: AbortSignal): Promise<T> {
    const { metadata, ...rest } = fields;
    const body = { apiVersion, kind: this.kind, metadata: { ...metadata, ...id }, ...rest };
    const query = new URLSearchParams({ fieldManager, force: "true" });
    const contentType = "application/apply-patch+yaml";
    return this.#read(
      await this.#api.call(`${this.#path(id)}?${query}`, { method: "PATCH", body, contentType, signal }),
    );
  }

  /** Changes fields; `null` removes one. With `metadata.resourceVersion` it fails with `conflict` after another write. */
  async patch(id: ObjectId, body: Fields, signal?: AbortSignal): Promise<T> {
    const path = `${this.#path(id)}?fieldManager=${fieldManager}`;
    return this.#read(await this.#api.call(path, { method: "PATCH", body, signal }));
  }

  async patchStatus(id: ObjectId, status: unknown, signal?: AbortSignal): Promise<T> {
    const path = `${this.#path(id)}/status?fieldManager=${fieldManager}`;
    return this.#read(await this.#api.call(path, { method: "PATCH", body: { status }, signal }));
  }

  async delete({ metadata }: T, signal?: AbortSignal): Promise<void> {
    const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: metadata.uid } };
    await this.#api.call(this.#path(metadata), { method: "DELETE", body, ...given({ signal }) });
  }

  #collection(namespace = this.#namespace): string {
    const home = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
    return `/apis/${apiVersion}${home}/${plurals[this.kind]}`;
  }

  #path({ namespace, name }: ObjectId): string {
    return `${this.#collection(namespace)}/${encodeURIComponent(name)}`;
  }
}

type Fields = Readonly<Record<string, unknown>> & { readonly metadata?: Readonly<Record<string, unknown>> };

export interface ObjectId {
  readonly namespace: string;
  readonly name: string;
}

export const idOf = ({ namespace, name }: Pick<Metadata, "namespace" | "name">): ObjectId => ({ namespace, name });

/** One word for an object, such as `team-a/lab`. */
export const keyOf = ({ namespace, name }: ObjectId): string => `${namespace}/${name}`;

export function idFrom(key: string): ObjectId {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** Of an object that goes when this one goes. */
export function ownedBy(kind: KindName, { name, uid }: Pick<Metadata, "name" | "uid">) {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
