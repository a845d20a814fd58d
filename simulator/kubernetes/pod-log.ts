// SPDX-License-Identifier: Apache-2.0
import type { KubernetesObject } from "../machine/world.ts";
import type { ObjectRequest } from "./request.ts";
import { ApiError } from "./status.ts";

interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly state?: {
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason: string };
    readonly terminated?: { readonly startedAt: string };
  };
}

/** What a container has written. Containers run in name only: the one line says what was started, and when. */
export function podLog(request: ObjectRequest, pod: KubernetesObject): string {
  const { name } = pod.metadata;
  const statuses =
    (pod.status as { containerStatuses?: readonly ContainerStatus[] } | undefined)?.containerStatuses ?? [];
  const wanted = request.url.searchParams.get("container") ?? "";
  const spec = pod.spec as { containers?: readonly { name: string }[] } | undefined;
  const container = wanted === "" ? (spec?.containers?.[0]?.name ?? "") : wanted;
  if (spec?.containers?.some((held) => held.name === container) !== true) {
    throw new ApiError(400, "BadRequest", `container ${container} is not valid for pod ${name}`);
  }
  const status = statuses.find((held) => held.name === container);
  const started = status?.state?.running?.startedAt ?? status?.state?.terminated?.startedAt;
  if (status === undefined || started === undefined) {
    const reason = status?.state?.waiting?.reason ?? "ContainerCreating";
    const why = reason.includes("Pull") ? "trying and failing to pull image" : reason;
    throw new ApiError(400, "BadRequest", `container "${container}" in pod "${name}" is waiting to start: ${why}`);
  }
  const stamp = request.url.searchParams.get("timestamps") === "true" ? `${started} ` : "";
  return `${stamp}simulated container ${container} of ${status.image} started at ${started}\n`;
}
