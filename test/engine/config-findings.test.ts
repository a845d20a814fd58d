// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type ClusterSpec, configFindings, desiredCluster, type ObservedCluster } from "../../engine/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "./fixture.ts";

const nothing: ObservedCluster = { machines: new Map(), kubernetes: { kind: "unreachable", reason: "" } };

function findings(patch: string, { talos = "v1.14.1", contract = "v1.14", placeOf }: Options = {}) {
  const spec: ClusterSpec = {
    name: "c",
    endpoint: "https://10.0.0.1:6443",
    talosVersion: TalosVersion.parse(talos),
    contract: Contract.parse(contract),
    kubernetesVersion: "1.36.3",
    machines: ["cp-1", "w-1", "w-2"].map((name, index) => ({
      name,
      role: index === 0 ? "controlplane" : "worker",
      address: `10.0.0.${index + 1}`,
    })),
    patches: { worker: [patch] },
    ...(placeOf === undefined ? {} : { placeOf }),
  };
  return configFindings(desiredCluster(spec, testSecrets()), nothing);
}
const found = (patch: string, options?: Options) => findings(patch, options).map(({ message }) => message);

interface Options {
  readonly talos?: string;
  readonly contract?: string;
  readonly placeOf?: NonNullable<ClusterSpec["placeOf"]>;
}

const kubelet = "machine:\n  kubelet:\n    extraArgs: { v: '2' }\n";

describe("a config that the machine's Talos would refuse is found before anything is touched", () => {
  test("a setting that two documents have, with both places and where the patch was written", () => {
    expect(found(kubelet, { placeOf: ({ keys }) => `environments/c.yaml:12, ${keys.join(".")}` })).toEqual([
      "w-1, w-2: Talos v1.14.1 would refuse the config: v1alpha1 machine.kubelet (environments/c.yaml:12, machine.kubelet) and KubeletConfig: kubelet config is already set in v1alpha1 config (.machine.kubelet)",
    ]);
  });

  test("with the document to write instead, and the command that rewrites patches", () => {
    const mounts = "extraMounts: [{ destination: /a, source: /a, type: bind, options: [ro] }]";
    const both = `machine: { kubelet: { extraArgs: { v: '2' }, ${mounts} }, nodeLabels: { a: b } }\n`;
    expect(findings(both).map(({ hint }) => hint)).toEqual([
      expect.stringMatching(/^Write machine\.nodeLabels as KubeNodeConfig\.labels\. /),
      "Write machine.kubelet.extraArgs as KubeletConfig.extraArgs. machine.kubelet.extraMounts: no document has it: use a UserVolumeConfig, which is mounted below /var/mnt and which pods reach by hostPath. To have all patches rewritten: talosmith config migrate <environment> --to v1.14, while configContract is still the older one.",
    ]);
    expect(
      findings("apiVersion: v1alpha1\nkind: KubeletConfig\nextraArgs: { v: '2' }\n", { contract: "v1.13" }),
    ).toEqual([
      {
        severity: "error",
        message: expect.stringContaining("v1alpha1 machine.kubelet and KubeletConfig: kubelet config is already set"),
        hint: "Contract v1.13 has the setting in v1alpha1. Write it there, or move to the contract that has KubeletConfig: talosmith config migrate <environment> --to v1.14",
      },
    ]);
  });

  test.each([
    ["the same patch where the contract keeps the setting there", kubelet, { contract: "v1.13" }],
    ["on the Talos of that contract", kubelet, { talos: "v1.13.9", contract: "v1.13" }],
    [
      "the document where the contract has it",
      "apiVersion: v1alpha1\nkind: KubeletConfig\nextraArgs: { v: '2' }\n",
      {},
    ],
  ])("but not %s", (_, patch, options) => {
    expect(found(patch, options)).toEqual([]);
  });

  test("without what a patch holds that no file of the project shows", () => {
    const label = 'machine:\n  nodeLabels: { "bad SECRET label": x }\n';
    const hidden = found(label, { contract: "v1.13", placeOf: () => undefined });
    expect(hidden).toEqual([expect.stringContaining("it may come from a patch file, which is secret")]);
    expect(hidden.join()).not.toContain("SECRET");
    expect(found(label, { contract: "v1.13", placeOf: () => "environments/c.yaml:3" }).join()).toContain("SECRET");
  });

  test("a document that the Talos does not know yet", () => {
    const patch = "apiVersion: v1alpha1\nkind: FilesystemTrimConfig\ninterval: 24h\n";
    expect(found(patch, { talos: "v1.13.9", contract: "v1.13" })).toEqual([
      expect.stringMatching(/^w-1, w-2: Talos v1\.13\.9 would refuse the config: FilesystemTrimConfig/),
    ]);
  });
});
