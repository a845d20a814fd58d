// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import type { KubernetesApi } from "./api.ts";

const schema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  data: z.record(z.string(), z.string()).nullish(),
});

/** A Secret or a ConfigMap. */
export type DataObject = z.infer<typeof schema>;

interface Options {
  readonly signal?: AbortSignal | undefined;
}

/** Undefined when it is not there. */
export async function readObject(
  api: KubernetesApi,
  path: string,
  { signal }: Options = {},
): Promise<DataObject | undefined> {
  try {
    return schema.parse(await api.call(path, signal === undefined ? {} : { signal }));
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}

/**
 * Writes an object, new or in place of the one that is there. `change` sees that one and may throw to keep it; it is
 * asked again when somebody else has written meanwhile.
 */
export async function changeObject(
  api: KubernetesApi,
  collection: string,
  name: string,
  change: (found: DataObject | undefined) => unknown,
  { signal }: Options = {},
): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  for (let attempt = 0; ; attempt++) {
    const found = await readObject(api, `${collection}/${name}`, options);
    const body = change(found);
    try {
      // Its version makes sure that nobody has written between our look and our write.
      if (found === undefined) await api.call(collection, { ...options, method: "POST", body });
      else await api.call(`${collection}/${name}`, { ...options, method: "PUT", body });
      return;
    } catch (error) {
      if (!(error instanceof TalosError) || error.code !== "conflict" || attempt === 3) throw error;
    }
  }
}
