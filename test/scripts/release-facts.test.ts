// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  contractQuestions,
  differences,
  factsOf,
  newestPatch,
  registeredKinds,
  withReleases,
} from "../../scripts/release-facts.ts";
import { type Release, releases } from "../../talos/version/releases.ts";

const file = readFileSync("talos/version/releases.ts", "utf8");

/** Lines as Go modules have them. */
const machinery: Readonly<Record<string, string>> = {
  "constants/constants.go": `
	DefaultKubernetesVersion = "1.38.2"
	CoreDNSImage = "registry.example/coredns"
	DefaultCoreDNSVersion = "v1.15.0"
	DefaultEtcdVersion = "3.8.0"
	EtcdImage = "registry.example/etcd"
	FlannelVersion = "0.30.0"
`,
  "compatibility/talos115/talos115.go": `
var MinimumHostUpgradeVersion = semver.MustParse("1.13.0")
var MaximumHostDowngradeVersion = semver.MustParse("1.17.0")
var MinimumKubernetesVersion = semver.MustParse("1.33.0")
var MaximumKubernetesVersion = semver.MustParse("1.38.99")
`,
};
const talos: Readonly<Record<string, string>> = {
  "pkg/images/list.go": 'const DefaultSandboxImage = "registry.example/pause:4"',
  "CHANGELOG.md": "## [Talos 1.15.0](https://example.com) (2027-01-20)",
};

test("facts are read from the modules", () => {
  expect(
    factsOf(
      15,
      (path) => machinery[path],
      (path) => talos[path],
    ),
  ).toEqual({
    released: "2027-01-20",
    defaultKubernetes: "1.38.2",
    oldestKubernetesMinor: 33,
    newestKubernetesMinor: 38,
    upgradableFromMinor: 13,
    downgradableBelowMinor: 17,
    etcd: "registry.example/etcd:3.8.0",
    coredns: "registry.example/coredns:v1.15.0",
    flannel: "ghcr.io/siderolabs/flannel:0.30.0",
    pause: "registry.example/pause:4",
  });
});

test("of a module that cannot be had nothing is claimed", () => {
  const none = () => undefined;
  expect(factsOf(15, none, none)).toEqual({});
  expect(factsOf(15, none, (path) => talos[path])).toEqual({
    released: "2027-01-20",
    pause: "registry.example/pause:4",
  });
});

test.each([
  ["v1.14.1", ["v1.14.0", "v1.14.3", "v1.15.0", "v1.14.4-rc.0"], "v1.14.3"],
  ["v1.14.10", ["v1.14.9"], "v1.14.10"],
  ["v1.14.0-rc.1", ["v1.14.0"], "v1.14.0"],
  [undefined, ["v1.14.0-alpha.1"], undefined],
])("after %s, of %j the newest patch is %s", (known, found, expected) => {
  expect(newestPatch(14, known, found)).toBe(expected);
});

test("kinds are read whether they are constants or words", () => {
  const sources = [
    'const FooKind = "FooConfig"',
    "registry.Register(FooKind, func()",
    'registry.Register("v1alpha1", f)',
  ];
  expect(registeredKinds(sources)).toEqual(["FooConfig", "v1alpha1"]);
});

test("questions that a contract answers anew are named", () => {
  const source = ["Old", "New"].map(
    (name, index) => `func (contract *V) ${name}() bool {\n\treturn contract.Greater(TalosVersion1_${13 + index})\n}\n`,
  );
  expect(contractQuestions(15, source.join("\n"))).toEqual(["New"]);
});

test("the table is what the script writes", () => {
  expect(withReleases(file, releases)).toBe(file);
});

test("a new release is one more row, and what differs is said line by line", () => {
  const last = releases.at(-1) ?? releases[0];
  const next: Release = { ...last, minor: last.minor + 1, newest: "v1.99.0" };
  const written = withReleases(file, [...releases, next]);
  expect(written.split("\n").length - file.split("\n").length).toBe(Object.keys(next).length + 2);
  expect(written).toContain('    newest: "v1.99.0", // go list -m\n');
  expect(written).toContain("export const defaultChanges");
  expect(differences(last, next)).toEqual([
    `1.${next.minor} minor: ${last.minor} → ${next.minor}`,
    `1.${next.minor} newest: ${last.newest} → v1.99.0`,
  ]);
  expect(differences(last, last)).toEqual([]);
});
