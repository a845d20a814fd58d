// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { kubeconfigParts } from "../../talos/client-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { type KubernetesApi, kubernetesApi, stuckPodsIn } from "../kubernetes/index.ts";
import type { ReleaseId } from "./release.ts";

/** Milliseconds between two looks. */
const usualInterval = 3_000;

/**
 * Helm's work on a release, with the pods of its namespace observed meanwhile: helm says only that time ran out, and
 * takes the pods that could not start away with it. Its error then names them and their reasons.
 */
export async function namingStuckPods<T>(
  { name, namespace }: ReleaseId,
  kubeconfig: string,
  work: () => Promise<T>,
  interval = usualInterval,
): Promise<T> {
  const api = await apiOf(kubeconfig);
  if (api === undefined) return work();
  const stop = new AbortController();
  const seen = observePods(api, namespace, name, { interval, signal: stop.signal });
  try {
    return await work();
  } catch (error) {
    stop.abort();
    throw withPods(error, await seen);
  } finally {
    stop.abort();
    await seen;
    api.close();
  }
}

/** Undefined where the file cannot be read: helm says what is wrong with it. */
async function apiOf(kubeconfig: string): Promise<KubernetesApi | undefined> {
  try {
    const {
      host,
      caCertificate: ca,
      clientCertificate: certificate,
      clientKey: key,
    } = kubeconfigParts(await readFile(kubeconfig, "utf8"));
    return kubernetesApi({ servers: [host], ca, certificate, key });
  } catch {
    return undefined;
  }
}

/** What pods were stuck at the last look, but for those of other releases that were so before. Never throws. */
async function observePods(
  api: KubernetesApi,
  namespace: string,
  release: string,
  { interval, signal }: { readonly interval: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  let before: ReadonlySet<string> | undefined;
  let stuck: readonly string[] = [];
  while (!signal.aborted) {
    const found = await stuckPodsIn(api, namespace, signal).catch(() => undefined);
    before ??= found && new Set(found.filter((pod) => pod.instance !== release).map((pod) => pod.name));
    // Pods that helm has just taken away were stuck a moment ago.
    if (found !== undefined && found.length > 0)
      stuck = found.filter((pod) => !before?.has(pod.name)).map((pod) => `${namespace}/${pod.name}: ${pod.reason}`);
    await pause(interval, signal);
  }
  return stuck;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

function withPods(error: unknown, stuck: readonly string[]): unknown {
  const ours = TalosError.from(error);
  if (stuck.length === 0 || ours.code === "canceled") return error;
  const { code, message, hint } = ours;
  return new TalosError(code, `${message}; pods that could not start: ${stuck.join("; ")}`, { hint, cause: error });
}
