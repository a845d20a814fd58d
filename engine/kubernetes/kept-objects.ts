// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import type { KeptSecret } from "../../talos/secrets/index.ts";
import { undefinedIf } from "../failures.ts";
import type { Ownership } from "../machines.ts";
import { type KubernetesApi, kubernetesApi, type RequestOptions } from "./api.ts";
import type { InCluster } from "./in-cluster.ts";

const collection = "/api/v1/namespaces/kube-system/configmaps";
const name = "talosmith";

export async function readOwnership(api: KubernetesApi, signal?: AbortSignal): Promise<Ownership | undefined> {
  const found = await readObject(api, `${collection}/${name}`, { signal });
  return found === undefined ? undefined : ownershipOf(found);
}

export async function changeOwnership(
  api: KubernetesApi,
  change: (known: Ownership | undefined) => Ownership,
  signal?: AbortSignal,
): Promise<Ownership> {
  let written: Ownership = { joined: [], applies: 0 };
  const put = (found: DataObject | undefined) => {
    written = change(found === undefined ? undefined : ownershipOf(found));
    const { owner, formerly = [], joined, applies, changed } = written;
    const data = {
      applies: String(applies),
      ...given({ owner, formerly: lines(formerly), joined: lines(joined), changed }),
    };
    const metadata = { name, namespace: "kube-system" };
    return found === undefined ? { apiVersion: "v1", kind: "ConfigMap", metadata, data } : { ...found, data };
  };
  await changeObject(api, collection, name, put, { signal });
  return written;
}

function ownershipOf({ data }: DataObject): Ownership {
  const { owner, formerly, joined, applies, changed } = data ?? {};
  const number = Number(applies);
  return {
    ...given({ owner, formerly: formerly === undefined ? undefined : linesOf(formerly), changed }),
    joined: linesOf(joined),
    // A person may have edited it.
    applies: Number.isSafeInteger(number) && number > 0 ? number : 0,
  };
}

/** A list as text; undefined for an empty one. */
const lines = (names: readonly string[]) => names.join("\n") || undefined;

function linesOf(text = ""): string[] {
  return text.split("\n").filter((line) => line !== "");
}

const schema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  data: z.record(z.string(), z.string()).nullish(),
});

/** A Secret or a ConfigMap. */
export type DataObject = z.infer<typeof schema>;

type Options = Pick<RequestOptions, "signal">;

/** Undefined when it is not there. */
export function readObject(
  api: KubernetesApi,
  path: string,
  { signal }: Options = {},
): Promise<DataObject | undefined> {
  return api.call(path, { signal }).then((answer) => schema.parse(answer), undefinedIf("not-found"));
}

/**
 * Writes an object, new or in place of the one that is there. `change` sees that one and may throw to keep it; it is
 * asked again when somebody else has written meanwhile.
 */
async function changeObject(
  api: KubernetesApi,
  collection: string,
  name: string,
  change: (found: DataObject | undefined) => unknown,
  options: Options = {},
): Promise<void> {
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

/** A Secret of a namespace; of two writers at once the first wins. `made`: labels and the like of one that is not there yet. */
export function secretIn(
  api: KubernetesApi,
  namespace: string,
  name: string,
  made: Readonly<Record<string, unknown>> = {},
): KeptSecret {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  return {
    place: `the Secret ${name}`,
    read: async (key) => decoded((await readObject(api, `${collection}/${name}`))?.data?.[key]),
    write: (key, text, expects) => {
      const data = { [key]: Buffer.from(text).toString("base64") };
      return changeObject(api, collection, name, (found) => {
        expects?.(decoded(found?.data?.[key]));
        if (found !== undefined) return { ...found, data: { ...found.data, ...data } };
        return { apiVersion: "v1", kind: "Secret", metadata: { ...made, name }, type: "Opaque", data };
      });
    },
  };
}

/** A Secret in the namespace of this process, created when it was deployed. */
export function keptSecret(cluster: () => Promise<InCluster>, name: string): KeptSecret {
  return {
    place: `the Secret ${name}`,
    read: (key) => within(cluster, name, (secret) => secret.read(key)),
    write: (key, text, expects) => within(cluster, name, (secret) => secret.write(key, text, expects)),
  };
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("utf8");
}

async function within<T>(
  cluster: () => Promise<InCluster>,
  name: string,
  work: (secret: KeptSecret) => Promise<T>,
): Promise<T> {
  const { access, namespace } = await cluster();
  const api = kubernetesApi(access);
  try {
    return await work(secretIn(api, namespace, name));
  } finally {
    api.close();
  }
}
