// SPDX-License-Identifier: Apache-2.0
import pc from "picocolors";
import { expect, test } from "vitest";
import { deployedSummary } from "../../../cli/output/summary.ts";
import type { Deployed } from "../../../workspace/deploy.ts";

const deployed: Deployed = {
  environment: "local",
  talosVersion: "v1.13.9",
  kubernetesVersion: "1.36.3",
  machines: [
    { name: "local-cp-1", role: "controlplane", address: "127.9.9.2" },
    { name: "local-w-1", role: "worker", address: "127.9.9.3" },
  ],
  endpoint: "https://127.9.9.2:6443",
  kubeconfigPath: "generated/local/kubeconfig",
  talosconfigPath: "generated/local/talosconfig",
  seconds: 4.25,
  runner: "terraform",
};

test("the summary says what is there, where, and what to type next", () => {
  const text = deployedSummary(deployed, "npx talosmith", pc.createColors(false));
  expect(text).toBe(`
local is up: 1 control plane, 1 worker  (4.3 s, terraform)
Talos v1.13.9, Kubernetes v1.36.3, https://127.9.9.2:6443

  ● local-cp-1  control plane  127.9.9.2
  ● local-w-1   worker         127.9.9.3

What to type next:
  kubectl --kubeconfig generated/local/kubeconfig get nodes
  talosctl --talosconfig generated/local/talosconfig version
  npx talosmith ui
  npx talosmith plan local
  npx talosmith destroy local
`);
});

test.each([
  { unseen: ["local-cp-1"], says: "local: 1 of 2 machines could not be checked: local-cp-1", marks: "○●" },
  { unseen: [], says: "local: not everything could be checked, see the warnings above", marks: "○○" },
])("a cluster of which something was not seen is not called up: $says", ({ unseen, says, marks }) => {
  const text = deployedSummary({ ...deployed, unseen }, "npx talosmith", pc.createColors(false));
  expect(text).toContain(says);
  expect(text).not.toContain("is up");
  expect(text.match(/[●○](?= local-)/g)?.join("")).toBe(marks);
  expect(text).toContain("What to type next:\n  npx talosmith health local\n");
});
