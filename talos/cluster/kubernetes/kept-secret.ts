// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../errors.ts";
import type { KeptSecret } from "../../secrets/index.ts";
import { type KubernetesApi, kubernetesApi } from "./api.ts";
import type { InCluster } from "./in-cluster.ts";

const schema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  data: z.record(z.string(), z.string()).nullish(),
});

/** A Secret beside this process, made by whoever deployed it; of two writers at once the first wins. */
export function keptSecret(cluster: () => Promise<InCluster>, name: string): KeptSecret {
  return {
    place: `the Secret ${name}`,
    read: (key) =>
      within(cluster, async (api, collection) => {
        return decoded((await get(api, `${collection}/${name}`))?.data?.[key]);
      }),
    write: (key, text, expects) =>
      within(cluster, async (api, collection) => {
        const data = { [key]: Buffer.from(text).toString("base64") };
        for (let attempt = 0; ; attempt++) {
          const found = await get(api, `${collection}/${name}`);
          expects?.(decoded(found?.data?.[key]));
          try {
            if (found === undefined) await api.call(collection, { method: "POST", body: newSecret(name, data) });
            else {
              // Its version makes sure that nobody has written between our look and our write.
              const body = { ...found, data: { ...found.data, ...data } };
              await api.call(`${collection}/${name}`, { method: "PUT", body });
            }
            return;
          } catch (error) {
            if (!(error instanceof TalosError) || error.code !== "conflict" || attempt === 3) throw error;
          }
        }
      }),
  };
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
}

async function within<T>(
  cluster: () => Promise<InCluster>,
  work: (api: KubernetesApi, collection: string) => Promise<T>,
): Promise<T> {
  const { access, namespace } = await cluster();
  const api = kubernetesApi(access);
  try {
    return await work(api, `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`);
  } finally {
    api.close();
  }
}

async function get(api: KubernetesApi, path: string): Promise<z.infer<typeof schema> | undefined> {
  try {
    return schema.parse(await api.call(path));
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}

function newSecret(name: string, data: Readonly<Record<string, string>>) {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, type: "Opaque", data };
}
