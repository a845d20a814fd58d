// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { Contract, defaultTalosVersion, KubernetesVersion, TalosVersion } from "../../../talos/version/index.ts";

describe("a Talos version", () => {
  test.each([
    ["v1.13.9", "v1.13.9"],
    ["1.13.9", "v1.13.9"],
    ["v1.14.0-rc.1", "v1.14.0-rc.1"],
  ])("reads %s as %s", (text, expected) => {
    expect(TalosVersion.parse(text).toString()).toBe(expected);
  });

  test.each(["1.13", "v1", "", "latest", "1.13.9.1", " v1.13.9", "v1.13.x"])("refuses %j with an example", (text) => {
    expect(() => TalosVersion.parse(text)).toThrow(expect.objectContaining({ code: "invalid-input" }));
    expect(() => TalosVersion.parse(text)).toThrow("is not a Talos version");
  });

  test.each(["v1.8.0", "v1.15.0", "v2.13.0"])("refuses %s, which we do not know, and names the range", (text) => {
    expect(() => TalosVersion.parse(text)).toThrow("expected 1.9 to 1.14");
  });

  test.each([
    ["v1.9.6", "1.32.4"],
    ["v1.10.9", "1.33.6"],
    ["v1.11.6", "1.34.1"],
    ["v1.12.11", "1.35.4"],
    ["v1.13.9", "1.36.3"],
    ["v1.14.0-rc.1", "1.37.0-rc.0"],
  ])("%s installs Kubernetes %s by default", (talos, kubernetes) => {
    expect(TalosVersion.parse(talos).defaultKubernetesVersion).toBe(kubernetes);
    expect(TalosVersion.parse(talos).supportsKubernetes(kubernetes)).toBe(true);
  });

  test.each([
    ["1.30.9", "version of Kubernetes 1.30.9 is too old to be used with Talos 1.13.9"],
    ["1.37.0", "version of Kubernetes 1.37.0 is too new to be used with Talos 1.13.9"],
    ["1.36.99", "version of Kubernetes 1.36.99 is too new to be used with Talos 1.13.9"],
  ])("v1.13.9 refuses Kubernetes %s in Talos's words", (kubernetes, message) => {
    expect(() => TalosVersion.parse("v1.13.9").requireKubernetes(kubernetes)).toThrow(message);
  });

  test.each(["1.31.0", "1.36.98", "v1.34.2"])("v1.13.9 accepts Kubernetes %s", (kubernetes) => {
    expect(TalosVersion.parse("v1.13.9").supportsKubernetes(kubernetes)).toBe(true);
  });

  test.each([
    ["v1.10.9", "host version 1.10.9 is too old to upgrade to Talos 1.13.9"],
    ["v1.11.0", undefined],
    ["v1.14.0-rc.1", undefined],
  ])("can or cannot be reached from %s in one step", (host, message) => {
    const move = () => TalosVersion.parse("v1.13.9").requireUpgradeFrom(TalosVersion.parse(host));
    if (message === undefined) expect(move).not.toThrow();
    else expect(move).toThrow(message);
  });

  test("refuses a downgrade over too many releases", () => {
    const move = () => TalosVersion.parse("v1.9.6").requireUpgradeFrom(TalosVersion.parse("v1.11.0"));
    expect(move).toThrow("host version 1.11.0 is too new to downgrade to Talos 1.9.6");
  });

  test("compares by minor and patch, and takes a candidate for older than its release", () => {
    const texts = ["v1.9.6", "v1.14.0", "v1.13.10", "v1.10.9", "v1.14.0-rc.1", "v1.14.0-rc.0", "v1.13.9"];
    const order = texts.map((text) => TalosVersion.parse(text));
    expect(order.sort((left, right) => left.compare(right)).map(String)).toEqual([
      "v1.9.6",
      "v1.10.9",
      "v1.13.9",
      "v1.13.10",
      "v1.14.0-rc.0",
      "v1.14.0-rc.1",
      "v1.14.0",
    ]);
  });

  test("is v1.13.9 by default", () => {
    expect(defaultTalosVersion.toString()).toBe("v1.13.9");
  });
});

describe("a contract", () => {
  test.each([
    ["v1.13", "v1.13"],
    ["1.9", "v1.9"],
    ["v1.12.11", "v1.12"],
    ["v1.14.0-rc.1", "v1.14"],
  ])("reads %s as %s", (text, expected) => {
    expect(Contract.parse(text).toString()).toBe(expected);
  });

  test("knows which form the host name, registries and KubeSpan take", () => {
    const table = Contract.all().map((contract) => [
      contract.toString(),
      contract.hostnameDocument,
      contract.registryDocuments,
      contract.kubeSpanDocument,
      contract.kubernetesDocuments,
    ]);
    expect(table).toEqual([
      ["v1.9", false, false, false, false],
      ["v1.10", false, false, false, false],
      ["v1.11", false, false, false, false],
      ["v1.12", true, true, false, false],
      ["v1.13", true, true, true, false],
      ["v1.14", true, true, true, true],
    ]);
  });

  test("moves the etcd image to the Kubernetes registry in 1.12", () => {
    expect(Contract.parse("v1.11").images.etcd).toBe("gcr.io/etcd-development/etcd:v3.6.5");
    expect(Contract.parse("v1.12").images.etcd).toBe("registry.k8s.io/etcd:v3.6.11");
  });

  test("has a newest known release", () => {
    expect(Contract.all().map((contract) => TalosVersion.newestOf(contract).contract.toString())).toEqual(
      Contract.all().map(String),
    );
  });
});

test("a Kubernetes version may go up by one minor release at a time", () => {
  const from = KubernetesVersion.parse("v1.35.2");
  expect(from.toString()).toBe("1.35.2");
  expect(from.tag).toBe("v1.35.2");
  expect(
    ["1.35.0", "1.36.3", "1.37.0", "1.34.9"].map((text) => from.canUpgradeTo(KubernetesVersion.parse(text))),
  ).toEqual([true, true, false, false]);
});

test.each([
  ["1.36.3", "1.36.3", 0],
  ["1.36.3", "1.36.10", -1],
  ["1.37.0", "1.36.10", 1],
  ["1.37.0-rc.0", "1.37.0", -1],
])("Kubernetes %s against %s is %i", (left, right, expected) => {
  expect(KubernetesVersion.parse(left).compare(KubernetesVersion.parse(right))).toBe(expected);
});

test("from Talos 1.14 on no config change needs a reboot", () => {
  const reboots = Contract.all().map((contract) => [contract.toString(), contract.rebootsForConfig]);
  expect(Object.fromEntries(reboots)).toMatchObject({ "v1.9": true, "v1.13": true, "v1.14": false });
});
