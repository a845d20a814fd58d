// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { undefinedIf } from "../failures.ts";
import type { ManifestObject } from "../machines.ts";
import type { KubernetesApi, RequestOptions } from "./api.ts";

/** Which object, by group and kind. */
export interface ObjectReference {
  readonly namespace: string;
  readonly name: string;
  readonly group: string;
  readonly kind: string;
}

const objectSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().default("") }),
});

const listSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});
const groupSchema = z.object({ preferredVersion: z.object({ groupVersion: z.string() }) });

export function referenceOf(object: ManifestObject): ObjectReference {
  const { apiVersion, kind, metadata } = read(object);
  return { ...metadata, kind, group: apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "" };
}

/** Where objects live in the API, as the server itself tells it. */
export class ResourcePaths {
  readonly #api: KubernetesApi;
  readonly #options: Pick<RequestOptions, "signal">;
  readonly #lists = new Map<string, Promise<z.infer<typeof listSchema>["resources"]>>();

  constructor(api: KubernetesApi, options: Pick<RequestOptions, "signal">) {
    this.#api = api;
    this.#options = options;
  }

  async of(object: ManifestObject): Promise<string> {
    const { apiVersion, kind, metadata } = read(object);
    const path = await this.#path(apiVersion, kind, metadata);
    if (path !== undefined) return path;
    throw new TalosError("not-found", `Kubernetes has no ${kind} in ${apiVersion}, which a manifest wants`, {
      hint: "Check the extra manifests in the machine config against this version of Kubernetes.",
    });
  }

  /** Undefined when the server does not know the kind any more. */
  async ofReference({ group, kind, ...metadata }: ObjectReference): Promise<string | undefined> {
    const preferred = async () =>
      groupSchema.parse(await this.#api.call(`/apis/${group}`, this.#options)).preferredVersion.groupVersion;
    const path = async () => this.#path(group === "" ? "v1" : await preferred(), kind, metadata);
    return path().catch(undefinedIf("not-found"));
  }

  async #path(
    apiVersion: string,
    kind: string,
    { name, namespace }: { readonly name: string; readonly namespace: string },
  ): Promise<string | undefined> {
    const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const known = this.#lists.get(base) ?? this.#list(base);
    this.#lists.set(base, known);
    const found = (await known).find((resource) => resource.kind === kind && !resource.name.includes("/"));
    if (found === undefined) return undefined;
    const place = found.namespaced ? `/namespaces/${encodeURIComponent(namespace || "default")}` : "";
    return `${base}${place}/${found.name}/${encodeURIComponent(name)}`;
  }

  async #list(base: string): Promise<z.infer<typeof listSchema>["resources"]> {
    return listSchema.parse(await this.#api.call(base, this.#options)).resources;
  }
}

function read(object: ManifestObject): z.infer<typeof objectSchema> {
  const result = objectSchema.safeParse(object);
  if (result.success) return result.data;
  throw new TalosError("internal", `a manifest is no Kubernetes object: ${z.prettifyError(result.error)}`);
}
