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

  test.each([
    ["1.13", 'Write "v1.13.9", the newest that talosmith knows.'],
    ["v1.14", 'Write "v1.14.1", the newest that talosmith knows.'],
    ["latest", 'Write "v1.14.1", the newest that talosmith knows.'],
    ...["1.15", "v1", "", "1.13.9.1", " v1.13.9", "v1.13.x"].map((text) => [
      text,
      'Write all three parts, such as "v1.13.9".',
    ]),
  ])("refuses %j and says what to write", (text, hint) => {
    const message = `${JSON.stringify(text)} is not an exact Talos version`;
    expect(() => TalosVersion.parse(text)).toThrow(expect.objectContaining({ code: "invalid-input", message, hint }));
  });

  test.each(["v1.8.0", "v0.14.3", "v2.13.0"])("refuses %s, which is not supported, and names the range", (text) => {
    expect(() => TalosVersion.parse(text)).toThrow("expected 1.9 to 1.14");
  });

  test.each([
    ["1.14", "v1.14.1"],
    ["v1.9", "v1.9.6"],
    ["latest", "v1.14.1"],
    ["v1.13.4", "v1.13.4"],
    ["1.15.0-alpha.0", "v1.15.0-alpha.0"],
  ])("resolves %s to %s", (text, expected) => {
    expect(TalosVersion.resolve(text).toString()).toBe(expected);
  });

  test.each([
    ["1.15", "no release of Talos 1.15 is known"],
    ["v1.8", "no release of Talos 1.8 is known"],
    ["newest", '"newest" is not an exact Talos version'],
    ["1", '"1" is not an exact Talos version'],
  ])("does not resolve %s", (text, message) => {
    expect(() => TalosVersion.resolve(text)).toThrow(message);
  });

  test.each([
    ["v1.13.9", "latest", "1.36.3"],
    ["v1.14.1", "latest", "1.37.0"],
    ["v1.14.1", "1.35", "1.35.4"],
    ["v1.14.1", "v1.36.1", "1.36.1"],
  ])("%s resolves Kubernetes %s to %s", (talos, text, expected) => {
    expect(TalosVersion.parse(talos).resolveKubernetes(text).toString()).toBe(expected);
  });

  test("does not resolve a Kubernetes minor of which no patch release is known", () => {
    expect(() => TalosVersion.parse("v1.13.9").resolveKubernetes("1.31")).toThrow(
      "no release of Kubernetes 1.31 is known",
    );
  });

  test.each([
    ["v1.9.6", "1.32.4"],
    ["v1.10.9", "1.33.6"],
    ["v1.11.6", "1.34.1"],
    ["v1.12.11", "1.35.4"],
    ["v1.13.9", "1.36.3"],
    ["v1.14.0-rc.1", "1.37.0"],
    ["v1.14.1", "1.37.0"],
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

describe("a release newer than all that is known", () => {
  const next = TalosVersion.parse("v1.15.0-alpha.1");

  test("is read, and says what is not known", () => {
    expect(next.toString()).toBe("v1.15.0-alpha.1");
    expect(next.contract.toString()).toBe("v1.14");
    expect(next.defaultKubernetesVersion).toBe("1.37.0");
    expect(next.unknownWith(Contract.parse("v1.13"))).toMatch(/for the contract v1\.13\. /);
    expect(next.unknownWith()).toMatch(/contract v1\.14.*Kubernetes above 1\.37.*from 1\.14\./s);
  });

  test.each(["v1.9.0", "v1.13.99", "v1.14.2", "v1.14.0-rc.1"])("is not %s, of which all is known", (text) => {
    expect(TalosVersion.parse(text).unknownWith()).toBeUndefined();
  });

  test.each([
    ["1.31.0", false],
    ["1.32.0", true],
    ["1.37.0", true],
    ["1.38.0", true],
  ])("runs Kubernetes %s: %s, as far as known", (kubernetes, expected) => {
    expect(next.supportsKubernetes(kubernetes)).toBe(expected);
  });

  test.each([
    ["v1.13.9", "whether Talos 1.13.9 can be upgraded to 1.15.0-alpha.1 is not known"],
    ["v1.14.0", undefined],
    ["v1.15.0-alpha.0", undefined],
  ])("can or cannot be reached from %s", (host, message) => {
    const move = () => next.requireUpgradeFrom(TalosVersion.parse(host));
    if (message === undefined) expect(move).not.toThrow();
    else expect(move).toThrow(expect.objectContaining({ message, hint: expect.stringContaining("v1.14.1 first") }));
  });
});

test("what is too old for an upgrade hears of the release to take first", () => {
  const move = () => TalosVersion.parse("v1.14.1").requireUpgradeFrom(TalosVersion.parse("v1.9.6"));
  expect(move).toThrow(
    expect.objectContaining({ hint: "Upgrade to v1.11.6 first, the newest that it can be upgraded to." }),
  );
});

test("a release accepts the contracts up to its own", () => {
  const accepted = (talos: string) =>
    Contract.all()
      .filter((contract) => TalosVersion.parse(talos).accepts(contract))
      .join(" ");
  expect(accepted("v1.9.6")).toBe("v1.9");
  expect(accepted("v1.13.9")).toBe("v1.9 v1.10 v1.11 v1.12 v1.13");
  expect(accepted("v1.16.0")).toBe("v1.9 v1.10 v1.11 v1.12 v1.13 v1.14");
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

  test.each(["v1.8", "v1.15", "v1.15.0", "v2.0"])("refuses %s, which cannot be written", (text) => {
    expect(() => Contract.parse(text)).toThrow("expected 1.9 to 1.14");
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
