// SPDX-License-Identifier: Apache-2.0
import type { Timing } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { retryDelay } from "../../watch/index.ts";
import { type AnyObject, type Change, keyOf, type Objects } from "../api/objects.ts";

export interface InformerOptions<T extends AnyObject> {
  readonly objects: Objects<T>;
  readonly timing: Timing;
  /** An object is new, changed or gone. `before` and `now` are as they are in the cache. */
  readonly changed: (key: string, now: T | undefined, before: T | undefined) => void;
  /** Listing or watching has failed, and is tried again. */
  readonly failed: (error: TalosError) => void;
}

/** Every object of a kind as the API server last reported it: listed once, then watched. */
export class Informer<T extends AnyObject> {
  readonly #options: InformerOptions<T>;
  readonly #known = new Map<string, T>();
  #synced: (() => void) | undefined;
  /** Resolves when everything was listed once. */
  readonly synced: Promise<void>;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#synced = resolve;
    });
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  all(): readonly T[] {
    return [...this.#known.values()];
  }

  /** What was written a moment ago, unless the watch has reported something newer. */
  note(object: T): void {
    const known = this.#known.get(keyOf(object.metadata));
    if (known?.metadata.uid === object.metadata.uid && isNewer(object, known)) this.#put(object);
  }

  /** Until the signal fires. A watch that ends goes on where it was; only when that is too far back, all is listed again. */
  async run(signal: AbortSignal): Promise<void> {
    const { timing, failed } = this.#options;
    let version: string | undefined;
    for (let failures = 0; !signal.aborted; ) {
      try {
        version ??= await this.#list(signal);
        for await (const change of this.#options.objects.watch(version, signal)) {
          failures = 0;
          version = this.#follow(change) ?? version;
          if (change.type === "EXPIRED") version = undefined;
        }
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        failed(TalosError.from(error));
        await timing.sleep(Math.min(retryDelay(failures) / 30, longestRetry), signal).catch(() => undefined);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { objects, version } = await this.#options.objects.list(signal);
    const present = new Set(objects.map(({ metadata }) => keyOf(metadata)));
    for (const key of [...this.#known.keys()]) if (!present.has(key)) this.#remove(key);
    for (const object of objects) this.#put(object);
    this.#synced?.();
    return version;
  }

  /** The version that the cache then has. */
  #follow(change: Change): string | undefined {
    if (change.type === "EXPIRED") return undefined;
    if (change.type === "BOOKMARK") return change.version;
    const object = this.#options.objects.parse(change.object);
    if (object === undefined) return undefined;
    if (change.type === "DELETED") this.#remove(keyOf(object.metadata));
    else this.#put(object);
    return object.metadata.resourceVersion;
  }

  #put(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.#known.get(key);
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#known.set(key, object);
    this.#options.changed(key, object, before);
  }

  #remove(key: string): void {
    const before = this.#known.get(key);
    if (!this.#known.delete(key)) return;
    this.#options.changed(key, undefined, before);
  }
}

const longestRetry = 30_000;

/** Versions of one object grow, by the rules of the API from Kubernetes 1.35 on, and in fact before. */
function isNewer(a: AnyObject, b: AnyObject): boolean {
  return BigInt(a.metadata.resourceVersion) > BigInt(b.metadata.resourceVersion);
}
