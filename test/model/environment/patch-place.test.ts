// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { parseEnvironment, placeOfPatch } from "../../../model/index.ts";
import { patchSetting } from "../../../talos/config/index.ts";

const own = `cluster:
  patches:
    all:
      - machine:
          sysctls: { a: b }
          kubelet:
            extraArgs: { v: "2" }
    worker:
      - |
        machine:
          nodeLabels: { a: b }
        ---
        apiVersion: v1alpha1
        kind: KubeletConfig
        extraArgs: { v: "3" }
      - configRef: ./patch.yaml
infrastructure: { kind: simulated }
controlPlane:
  patches: [{ machine: { nodeTaints: { a: "b:NoSchedule" } } }]
workers: [{ workerRef: ./pool.yaml }]
`;
const files: Readonly<Record<string, string>> = {
  "environments/lab.yaml": own,
  "environments/patch.yaml": "# why\nmachine:\n  time:\n    disabled: true\n",
  "environments/pool.yaml": "count: 1\npatches:\n  - machine:\n      nodeAnnotations: { a: b }\n",
};
const read = (path: string) => files[path];
const environment = parseEnvironment("lab", read);
const { all, worker, controlPlane } = environment.cluster.patches;
const patches = [...all, ...worker, ...controlPlane, ...(environment.controlPlane?.patches ?? [])];
const ofPool = environment.workers.flatMap((pool) => pool.patches);

test.each([
  ["a mapping", "v1alpha1", "machine.kubelet", "environments/lab.yaml:6"],
  ["a text", "v1alpha1", "machine.nodeLabels", "environments/lab.yaml:11"],
  ["a later document of a text", "KubeletConfig", "extraArgs", "environments/lab.yaml:15"],
  ["a whole document", "KubeletConfig", "", "environments/lab.yaml:13"],
  ["a file that is referred to", "v1alpha1", "machine.time", "environments/patch.yaml:3"],
  ["a pool", "v1alpha1", "machine.nodeTaints", "environments/lab.yaml:19"],
  ["a pool in a file of its own", "v1alpha1", "machine.nodeAnnotations", "environments/pool.yaml:4"],
])("a setting of a patch is found where it was written: in %s", (_, document, path, expected) => {
  const place = patchSetting([...patches, ...ofPool], document, path);
  expect(place && placeOfPatch(environment, read, place)).toBe(expected);
});

test("a setting that no patch has is not found", () => {
  expect(patchSetting(patches, "v1alpha1", "machine.files")).toBeUndefined();
  expect(patchSetting(patches, "LinkConfig/eth0", "")).toBeUndefined();
});
