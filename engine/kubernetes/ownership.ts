// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { Ownership } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";
import { changeObject, type DataObject, readObject } from "./change-object.ts";

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
      ...given({ owner }),
      ...(formerly.length === 0 ? {} : { formerly: formerly.join("\n") }),
      ...(joined.length === 0 ? {} : { joined: joined.join("\n") }),
      ...given({ changed }),
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
    ...given({ owner }),
    ...(formerly === undefined ? {} : { formerly: linesOf(formerly) }),
    joined: linesOf(joined),
    // A person may have edited it.
    applies: Number.isSafeInteger(number) && number > 0 ? number : 0,
    ...given({ changed }),
  };
}

function linesOf(text = ""): string[] {
  return text.split("\n").filter((line) => line !== "");
}
