// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { namingStuckPods } from "../../../engine/addon/stuck-pods.ts";
import { TalosError } from "../../../talos/errors.ts";
import { kubernetesServer } from "../kubernetes-server.ts";

const api = kubernetesServer();
const folder = mkdtempSync(join(tmpdir(), "talosmith-stuck-"));
const kubeconfig = join(folder, "kubeconfig");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const release = { name: "web", namespace: "apps" };
const late = new TalosError("failed-precondition", "helm upgrade: context deadline exceeded");
const pod = (name: string, status: object) => ({ metadata: { name, namespace: "apps" }, spec: {}, status });
const waiting = (reason: string, message = "") => ({
  containerStatuses: [{ state: { waiting: { reason, message } } }],
});
const missing = 'Back-off pulling image "example.com/web:missing"';

/** Helm ends after two looks at the least; it takes its pods away before. */
async function failing(...looks: readonly (readonly object[])[]): Promise<unknown> {
  writeFileSync(kubeconfig, api.kubeconfig);
  api.answer = () => [200, { items: looks[Math.min(api.calls.length, looks.length) - 1] ?? [] }];
  const helm = async () => {
    while (api.calls.length <= looks.length) await sleep(1);
    throw late;
  };
  return namingStuckPods(release, kubeconfig, helm, 1).catch((error: unknown) => error);
}

describe("helm that runs out of time", () => {
  test.each<[string, object, string]>([
    ["its image", waiting("ImagePullBackOff", missing), `ImagePullBackOff: ${missing}`],
    ["its end", waiting("CrashLoopBackOff", "back-off 40s restarting"), "CrashLoopBackOff: back-off 40s restarting"],
    [
      "a node",
      { conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes are available" }] },
      "not scheduled: 0/1 nodes are available",
    ],
    [
      "an image of an init container",
      { initContainerStatuses: waiting("ErrImagePull", missing).containerStatuses, ...waiting("PodInitializing") },
      `ErrImagePull: ${missing}`,
    ],
  ])("says which pod could not start for %s, also when helm has taken it away", async (_, status, reason) => {
    const stuck = pod("web-1", status);
    expect(await failing([], [stuck], [])).toMatchObject({
      code: "failed-precondition",
      message: `${late.message}; pods that could not start: apps/web-1: ${reason}`,
    });
  });

  test.each<[string, readonly (readonly object[])[]]>([
    ["pods that are only on their way", [[], [pod("web-1", waiting("ContainerCreating"))]]],
    [
      "pods that were stuck before",
      [[pod("old", waiting("CrashLoopBackOff"))], [pod("old", waiting("CrashLoopBackOff"))]],
    ],
    ["no pods", [[], []]],
  ])("says nothing of %s", async (_, looks) => expect(await failing(...looks)).toBe(late));

  test("keeps its words where the kubeconfig cannot be read", async () => {
    const run = namingStuckPods(release, join(folder, "none"), () => Promise.reject(late), 1);
    await expect(run).rejects.toBe(late);
  });
});
