// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { metalPatches } from "../../../model/index.ts";
import {
  applyPatches,
  generateMachineConfig,
  parsePatch,
  readMachineFacts,
  validateConfig,
} from "../../../talos/config/index.ts";
import { parseSecrets } from "../../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

const secretsFile = new URL("../../golden/secrets/secrets-v1.13.yaml", import.meta.url);
const secrets = parseSecrets(readFileSync(secretsFile, "utf8"), "secrets.yaml");
const versions = Contract.all().map((contract) => TalosVersion.newestOf(contract));

type Input = Parameters<typeof metalPatches>[0];
type Machine = Partial<Input["machine"]>;

/** The config that a machine gets with its patches, checked as a machine of this release would. */
function configOf(version: TalosVersion, machine: Machine, rest: Partial<Omit<Input, "machine">> = {}): string {
  const { role = "controlplane" } = machine;
  const patches = metalPatches({
    talosVersion: version.toString(),
    configContract: version.contract.toString(),
    machine: { address: "10.0.0.11", role, ...machine },
    network: { nameservers: [] },
    ...rest,
  });
  const cluster = {
    clusterName: "rack",
    endpoint: "https://10.0.0.10:6443",
    talosVersion: version,
    kubernetesVersion: version.defaultKubernetesVersion,
  };
  const config = generateMachineConfig(cluster, secrets, { type: role, hostname: "a", patches });
  const { error } = validateConfig(config, "a.yaml", { mode: "metal", contract: version.contract });
  expect(error).toBeUndefined();
  return config;
}

describe.each(versions.map((version) => [version.toString(), version] as const))(
  "the patches of a metal machine with %s",
  (_, version) => {
    it("put a disk by its path, the image and the wipe into the config", () => {
      const config = configOf(version, { disk: "/dev/nvme0n1", image: "registry.example/installer:v1", wipe: true });
      expect(readMachineFacts(config)).toMatchObject({
        installDisk: "/dev/nvme0n1",
        installImage: "registry.example/installer:v1",
      });
      expect(config).toContain("wipe: true");
    });

    it("put a selector in place of the path", () => {
      const diskSelector = { size: ">= 200GB", model: "WDC*", type: "nvme" } as const;
      const config = configOf(version, { diskSelector });
      expect(readMachineFacts(config).installDisk).toBeUndefined();
      expect(config).toMatch(/WDC\*/);
      expect(config).not.toContain("/dev/sda");
    });

    it("keep the cluster's disk when only the image differs", () => {
      const config = configOf(version, { schematic: { extensions: ["siderolabs/zfs"], kernelArgs: [] } });
      const { installDisk, installImage } = readMachineFacts(config);
      expect(installDisk).toBe("/dev/sda");
      expect(installImage).toMatch(/^factory\.talos\.dev\/(metal-)?installer\/[0-9a-f]{64}:v1\./);
    });

    it.each([{ link: "eno1" }, { mac: "0C:C4:7A:00:00:0A" }])(
      "give the link %o a static address and the VIP",
      (link) => {
        const network = { cidr: "10.0.0.0/24", gateway: "10.0.0.1", nameservers: ["10.0.0.2"], vip: "10.0.0.10" };
        const config = configOf(version, link, { network });
        expect(readMachineFacts(config).virtualIps).toEqual(["10.0.0.10"]);
        for (const text of [
          "10.0.0.11/24",
          "gateway: 10.0.0.1",
          "10.0.0.2",
          ...Object.values(link).map((v) => v.toLowerCase()),
        ])
          expect(config.toLowerCase()).toContain(text);
        expect(readMachineFacts(configOf(version, { ...link, role: "worker" }, { network })).virtualIps).toEqual([]);
      },
    );

    it("take IPv6 as well, and a second family by a patch", () => {
      const network = { cidr: "fd00:10::/64", gateway: "fe80::1", nameservers: ["fd00:10::53"], vip: "fd00:10::100" };
      const config = configOf(version, { address: "fd00:10::11", link: "eno1" }, { network });
      expect(readMachineFacts(config).virtualIps).toEqual(["fd00:10::100"]);
      for (const text of ["fd00:10::11/64", "gateway: fe80::1", "fd00:10::53"]) expect(config).toContain(text);
      expect(config).not.toContain("0.0.0.0/0");
      const second = version.contract.networkDocuments
        ? "apiVersion: v1alpha1\nkind: LinkConfig\nname: eno1\naddresses: [{ address: 10.0.0.11/24 }]\nroutes: [{ gateway: 10.0.0.1 }]\n"
        : "machine: { network: { interfaces: [{ interface: eno1, addresses: [10.0.0.11/24], routes: [{ network: 0.0.0.0/0, gateway: 10.0.0.1 }] }] } }";
      const both = applyPatches(config, [parsePatch(second, "second")], "config");
      for (const text of ["fd00:10::11/64", "10.0.0.11/24", "fe80::1", "gateway: 10.0.0.1"])
        expect(both).toContain(text);
      expect(validateConfig(both, "a.yaml", { mode: "metal", contract: version.contract }).error).toBeUndefined();
    });

    it("leave the address to DHCP where only the VIP is said", () => {
      const config = configOf(version, { link: "eno1" }, { network: { nameservers: [], vip: "10.0.0.10" } });
      expect(config).toMatch(/dhcp: true|kind: DHCPv4Config/);
    });

    it("are none when nothing is said", () => {
      const machine = { address: "10.0.0.11", role: "worker" } as const;
      const [talosVersion, configContract] = [version, version.contract].map(String) as [string, string];
      expect(metalPatches({ talosVersion, configContract, machine, network: { nameservers: [] } })).toEqual([]);
    });
  },
);
