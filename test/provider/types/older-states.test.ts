// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { Server, upgradeResourceState } from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";

const server = new Server(
  talosmithProvider({ workingDirectory: ".", environment: {}, daemonCommand: ["node"] }),
  () => undefined,
);

test.each([
  ["both", { kubeconfig: "kube", talosconfig: "talos" }],
  ["one", { kubeconfig: "kube" }],
  ["none", {}],
])("client files of the first version that kept %s in the state have them in one map", (_, files) => {
  const stored = { cluster_name: "lab", kubeconfig: null, talosconfig: null, ...files };
  expect(upgradeResourceState(server, "talosmith_client_files", 0, JSON.stringify(stored))).toMatchObject({
    cluster_name: "lab",
    files,
  });
});

test("a cluster begins a run without the steps of the last one", () => {
  const stored = JSON.stringify({ name: "lab", steps: ["1. start etcd"], changes: { "cp-1": ["machine.type"] } });
  expect(upgradeResourceState(server, "talosmith_cluster", 0, stored)).toMatchObject({ steps: [], changes: {} });
});
