// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { KubernetesVersion } from "../../talos/version/index.ts";
import { undefinedIf } from "../failures.ts";
import type { GoneApi } from "../machines.ts";
import type { KubernetesApi, RequestOptions } from "./api.ts";

/** Kinds that went without a successor: their objects can be had by no other API, and are lost. */
const lostKinds: readonly {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly removedIn: string;
}[] = [
  { group: "networking.k8s.io", version: "v1alpha1", resource: "clustercidrs", removedIn: "1.29" },
  { group: "resource.k8s.io", version: "v1alpha3", resource: "podschedulingcontexts", removedIn: "1.32" },
];

/**
 * What clients of this cluster use and the given version does not serve: objects of kinds that are gone, and requests
 * for old versions of others, which every API server counts by itself.
 */
export async function apisGoneWith(
  api: KubernetesApi,
  version: string,
  signal?: AbortSignal,
): Promise<readonly GoneApi[]> {
  const target = KubernetesVersion.parse(version);
  const isGone = (release: string) => KubernetesVersion.parse(`${release}.0`).compare(target) <= 0;
  const options = { signal };
  const [lost, ...requested] = await Promise.all([
    Promise.all(lostKinds.filter(({ removedIn }) => isGone(removedIn)).map((kind) => objectsOf(api, kind, options))),
    ...api.servers.map((server) => requestedApis(api, server, options)),
  ]);
  const found = new Map<string, GoneApi>();
  for (const one of [...requested.flat().filter(({ removedIn }) => isGone(removedIn)), ...lost.flat()]) {
    found.set(one.name, one);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function objectsOf(
  api: KubernetesApi,
  { group, version, resource, removedIn }: (typeof lostKinds)[number],
  options: Pick<RequestOptions, "signal">,
): Promise<GoneApi[]> {
  const answer = await api.call(`/apis/${group}/${version}/${resource}`, options).catch(undefinedIf("not-found"));
  const objects = z.object({ items: z.array(z.unknown()).default([]) }).parse(answer ?? {}).items.length;
  return objects === 0 ? [] : [{ name: `${resource}.${version}.${group}`, removedIn, objects }];
}

/** A server that is away has nothing to tell; the others have seen its clients, too. */
async function requestedApis(
  api: KubernetesApi,
  server: string,
  options: Pick<RequestOptions, "signal">,
): Promise<GoneApi[]> {
  try {
    return readRequestedApis(String(await api.call("/metrics", { ...options, server })));
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.retryable || ours.code === "not-found" || ours.code === "permission-denied") return [];
    throw ours;
  }
}

/** Lines such as `apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",…} 1`. */
function readRequestedApis(metrics: string): GoneApi[] {
  return metrics.split("\n").flatMap((line) => {
    const labels = /^apiserver_requested_deprecated_apis\{(.*)\} [1-9]/.exec(line)?.[1];
    if (labels === undefined) return [];
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    const removedIn = label("removed_release");
    if (!/^\d+\.\d+$/.test(removedIn)) return [];
    const name = [label("resource"), label("version"), label("group")].filter((part) => part !== "").join(".");
    return [{ name, removedIn }];
  });
}
