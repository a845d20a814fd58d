// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { progressWords } from "../../engine/execute/progress-words.ts";

const network =
  "waiting for the node to become ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";
const pull =
  'waiting for kube-apiserver 1.36.9 to become ready: ImagePullBackOff: Back-off pulling image "registry.k8s.io/kube-apiserver:v1.36.9": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.k8s.io/kube-apiserver:v1.36.9": failed to resolve reference "registry.k8s.io/kube-apiserver:v1.36.9": registry.k8s.io/kube-apiserver:v1.36.9: not found';

test.each([
  ["rebooting", "rebooting"],
  ["not reachable: the connection was refused", "waiting for the machine to answer"],
  ["not reachable: 10.0.0.5: no answer within 5 s", "waiting for the machine to answer"],
  ["w-1: not reachable: 10.0.0.5: the connection was refused", "w-1: waiting for the machine to answer"],
  ["10.0.0.5: the connection was refused", "10.0.0.5: no answer yet"],
  ["10.0.0.5: 10.0.0.5:2379: no answer in time", "10.0.0.5: no answer yet"],
  ["no answer yet", "no answer yet"],
  ["waiting for the Kubernetes API: 10.0.0.5:6443: no answer in time", "waiting for the Kubernetes API"],
  ["the Kubernetes API does not answer: 10.0.0.5: the connection was refused", "waiting for the Kubernetes API"],
  ["rpc error: context deadline exceeded", "no answer yet"],
  [network, "waiting for the pod network"],
  [
    "waiting for the node to become ready: Kubelet stopped posting node status.",
    "waiting for the node to become ready",
  ],
  [
    "cp-1: not reachable: the connection was refused; cp-1: not reachable: the connection was cut",
    "cp-1: waiting for the machine to answer",
  ],
])("%s: %s", (reason, words) => {
  expect(progressWords(reason, 0)).toBe(words);
});

test.each([
  ["not reachable: its certificate is not signed by our CA"],
  ["in maintenance mode"],
  ["etcd has no leader"],
])("what a person has to act on stays: %s", (reason) => {
  expect(progressWords(reason, 0)).toBe(reason);
});

test.each([
  ["not reachable: the connection was refused", "waiting for the machine to answer: the connection was refused"],
  [network, "waiting for the pod network: cni plugin not initialized"],
])("a wait that takes long has the cause: %s", (reason, words) => {
  expect(progressWords(reason, 60_000)).toBe(words);
});

test("an image that cannot be pulled is named at once, without the words of three programs around it", () => {
  expect(progressWords(pull, 0)).toBe(
    "waiting for kube-apiserver 1.36.9 to become ready: cannot pull image registry.k8s.io/kube-apiserver:v1.36.9: not found",
  );
});

test("a long cause is shortened", () => {
  expect(progressWords(`waiting for the node to become ready: ${"x".repeat(500)}`, 90_000).length).toBeLessThan(170);
});
