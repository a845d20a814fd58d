// SPDX-License-Identifier: Apache-2.0
import type { KeptSecret } from "../../talos/secrets/index.ts";
import { type KubernetesApi, kubernetesApi } from "./api.ts";
import { changeObject, readObject } from "./change-object.ts";
import type { InCluster } from "./in-cluster.ts";

/** A Secret beside this process, made by whoever deployed it; of two writers at once the first wins. */
export function keptSecret(cluster: () => Promise<InCluster>, name: string): KeptSecret {
  return {
    place: `the Secret ${name}`,
    read: (key) =>
      within(cluster, async (api, collection) => {
        return decoded((await readObject(api, `${collection}/${name}`))?.data?.[key]);
      }),
    write: (key, text, expects) =>
      within(cluster, (api, collection) => {
        const data = { [key]: Buffer.from(text).toString("base64") };
        return changeObject(api, collection, name, (found) => {
          expects?.(decoded(found?.data?.[key]));
          return found === undefined ? newSecret(name, data) : { ...found, data: { ...found.data, ...data } };
        });
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

function newSecret(name: string, data: Readonly<Record<string, string>>) {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, type: "Opaque", data };
}
