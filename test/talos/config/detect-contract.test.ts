// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type ClusterConfig,
  detectContract,
  generateMachineConfig,
  MachineConfig,
} from "../../../talos/config/index.ts";
import { parseSecrets } from "../../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";
import { testSecrets } from "../../engine/fixture.ts";
import { everything } from "../../support/everything.ts";

const roles = ["controlplane", "worker"] as const;
const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const configs = (...texts: readonly string[]) => texts.map((text) => new MachineConfig(text));

const options: readonly (readonly [Partial<ClusterConfig>, string | undefined])[] = [
  [{}, undefined],
  [{ kubespan: true }, "node-1"],
  [{ cni: { name: "none" }, discovery: false, kubeProxy: false, allowSchedulingOnControlPlanes: true }, "node-1"],
  [
    {
      cni: { name: "custom", urls: ["https://cni.example.com/a.yaml"] },
      podSubnets: ["10.1.0.0/16"],
      dnsDomain: "k8s.example.com",
      additionalSans: ["api.example.com"],
    },
    undefined,
  ],
];

/** Every Talos release with every contract that it accepts. */
const pairs = Contract.all().flatMap((release) => {
  const talos = TalosVersion.newestOf(release);
  return Contract.all()
    .filter((contract) => talos.accepts(contract))
    .map((contract) => [contract.toString(), talos.toString()] as const);
});

/** Each pair with the usual settings and with one of the others; `npm run test:all` takes them all. */
const optionsFor = (pair: number) =>
  everything ? options : options.filter((_, index) => index === 0 || index === 1 + (pair % (options.length - 1)));

describe("the contract of a config", () => {
  const numbered = pairs.map(([contract, talos], index) => [contract, talos, index] as const);
  test.each(numbered)("of %s on Talos %s is found, or one that writes the same bytes", (name, talos, index) => {
    const [contract, talosVersion] = [Contract.parse(name), TalosVersion.parse(talos)];
    const kubernetesVersion = talosVersion.defaultKubernetesVersion;
    for (const [more, hostname] of optionsFor(index)) {
      const text = (of: Contract, type: (typeof roles)[number]) =>
        generateMachineConfig(
          {
            ...{ clusterName: "lab", endpoint: "https://10.0.0.1:6443", talosVersion, kubernetesVersion },
            ...{ contract: of, ...more },
          },
          testSecrets(),
          { type, ...(hostname === undefined ? {} : { hostname }) },
        );
      const texts = roles.map((type) => text(contract, type));
      const found = detectContract(configs(...texts), talosVersion, testSecrets());
      expect(roles.map((type) => text(found, type))).toEqual(texts);
      // Of several that write the same, the newest.
      const newer = Contract.all().filter((other) => other.compare(found) > 0 && talosVersion.accepts(other));
      for (const other of newer) expect(roles.map((type) => text(other, type))).not.toEqual(texts);
    }
  });

  interface Case {
    readonly id: string;
    readonly machinery: string;
    readonly talosVersionFlag: string | null;
    readonly secrets: string;
    readonly files: { readonly "controlplane.yaml": string; readonly "worker.yaml": string };
  }
  const cases: readonly Case[] = JSON.parse(read("config/index.json"));
  /** They differ from one of 1.11 only where volumes are encrypted. */
  const nameOf = (contract: string) => (["v1.9", "v1.10"].includes(contract) ? "v1.11" : contract);

  test.each(cases.map((row) => [row.id, row] as const))("of talosctl's %s is found on Talos 1.14.1", (_, row) => {
    const files = roles.map((type) => read(row.files[`${type}.yaml`]));
    const secrets = parseSecrets(read(row.secrets), row.secrets);
    const written = row.talosVersionFlag ?? TalosVersion.parse(row.machinery).contract.toString();
    const found = detectContract(configs(...files), TalosVersion.parse("v1.14.1"), secrets);
    expect(found.toString()).toBe(nameOf(written));
  });

  test("is one for all machines: what most of them have", () => {
    const talosVersion = TalosVersion.parse("v1.14.1");
    const of = (contract: string) =>
      generateMachineConfig(
        {
          ...{ clusterName: "lab", endpoint: "https://10.0.0.1:6443", talosVersion, kubernetesVersion: "1.36.3" },
          contract: Contract.parse(contract),
        },
        testSecrets(),
        { type: "controlplane" },
      );
    const machines = configs(of("v1.13"), of("v1.14"), of("v1.13"));
    expect(detectContract(machines, talosVersion, testSecrets()).toString()).toBe("v1.13");
  });
});
