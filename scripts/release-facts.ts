// SPDX-License-Identifier: Apache-2.0
// Reads what talos/version/releases.ts holds from the sources of Talos's Go modules, and writes the table. Pure.
import semver from "semver";
import type { Release } from "../talos/version/releases.ts";

/** Gives a file of a Go module, or undefined where it has none, or where the module could not be had. */
export type ModuleFile = (path: string) => string | undefined;

type Facts = { -readonly [Field in keyof Release]?: Release[Field] };

/** The facts of one release that its modules state; those whose module could not be had are left out. */
export function factsOf(minor: number, machinery: ModuleFile, talos: ModuleFile): Facts {
  const constant = (name: string) => match(machinery("constants/constants.go"), `\\b${name}\\s*=\\s*"([^"]+)"`);
  const folder = `talos1${minor}`;
  const bound = (name: string) =>
    match(machinery(`compatibility/${folder}/${folder}.go`), `\\b${name} = semver\\.MustParse\\("1\\.(\\d+)\\.`);
  const image = (repository: string | undefined, version: string | undefined) =>
    repository === undefined || version === undefined ? undefined : `${repository}:${version}`;
  const facts = {
    released: match(talos("CHANGELOG.md"), `## \\[Talos 1\\.${minor}\\.0\\]\\([^)]*\\) \\((\\d{4}-\\d\\d-\\d\\d)\\)`),
    defaultKubernetes: constant("DefaultKubernetesVersion"),
    oldestKubernetesMinor: numeric(bound("MinimumKubernetesVersion")),
    newestKubernetesMinor: numeric(bound("MaximumKubernetesVersion")),
    upgradableFromMinor: numeric(bound("MinimumHostUpgradeVersion")),
    downgradableBelowMinor: numeric(bound("MaximumHostDowngradeVersion")),
    etcd: image(constant("EtcdImage"), constant("DefaultEtcdVersion")),
    coredns: image(constant("CoreDNSImage"), constant("DefaultCoreDNSVersion")),
    flannel: image("ghcr.io/siderolabs/flannel", constant("FlannelVersion")),
    pause: match(talos("pkg/images/list.go"), `\\bDefaultSandboxImage = "([^"]+)"`),
    networkPolicies: image("registry.k8s.io/networking/kube-network-policies", constant("KubeNetworkPoliciesVersion")),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** The kinds of documents that a release registers, from the files of the machinery's config folder. */
export function registeredKinds(sources: readonly string[]): readonly string[] {
  const text = sources.join("\n");
  const kinds = [...text.matchAll(/\bregistry\.Register\(\s*("?[\w.]+"?),/g)].map(([, name = ""]) =>
    name.startsWith('"') ? name.slice(1, -1) : (match(text, `\\b${name}\\s*=\\s*"([^"]+)"`) ?? name),
  );
  return [...new Set(kinds)].sort();
}

/** Questions of config/contract.go that a contract answers otherwise than the one before. */
export function contractQuestions(minor: number, source: string): readonly string[] {
  const questions = source.matchAll(/\) (\w+)\(\) bool \{\s*return [^}]*Greater\(TalosVersion1_(\d+)\)/g);
  return [...questions].flatMap(([, name = "", before]) => (Number(before) === minor - 1 ? [name] : []));
}

/** The newest stable release of a minor among those named, and not older than the one known. */
export function newestPatch(minor: number, known: string | undefined, found: readonly string[]): string | undefined {
  const stable = found.filter((version) => new RegExp(`^v1\\.${minor}\\.\\d+$`).test(version));
  return [...stable, ...(known === undefined ? [] : [known])].sort(semver.compare).at(-1);
}

const sources: Readonly<Record<keyof Release, string>> = {
  minor: "",
  released: "talos CHANGELOG.md",
  newest: "go list -m",
  defaultKubernetes: "constants/constants.go: DefaultKubernetesVersion",
  oldestKubernetesMinor: "compatibility: MinimumKubernetesVersion",
  newestKubernetesMinor: "compatibility: MaximumKubernetesVersion",
  upgradableFromMinor: "compatibility: MinimumHostUpgradeVersion",
  downgradableBelowMinor: "compatibility: MaximumHostDowngradeVersion",
  oldestContractMinor: "talosctl validate; no field was removed since",
  etcd: "constants/constants.go: EtcdImage, DefaultEtcdVersion",
  coredns: "constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion",
  flannel: "constants/constants.go: FlannelVersion",
  pause: "talos pkg/images/list.go: DefaultSandboxImage",
  networkPolicies: "constants/constants.go: KubeNetworkPoliciesVersion",
};
const fields = Object.keys(sources) as readonly (keyof Release)[];

/** The file with other releases in its table. */
export function withReleases(file: string, releases: readonly Release[]): string {
  const [start, end] = [file.indexOf("[\n", file.indexOf("export const releases")), file.indexOf("\n];")];
  const rows = releases.map((release) => {
    const lines = fields.flatMap((field) => {
      const value = release[field];
      if (value === undefined) return [];
      return `    ${field}: ${JSON.stringify(value)},${sources[field] === "" ? "" : ` // ${sources[field]}`}`;
    });
    return `  {\n${lines.join("\n")}\n  },`;
  });
  return `${file.slice(0, start)}[\n${rows.join("\n")}${file.slice(end)}`;
}

/** One line per fact that differs. */
export function differences(before: Release | undefined, after: Release): readonly string[] {
  return fields
    .filter((field) => before?.[field] !== after[field])
    .map((field) => `1.${after.minor} ${field}: ${before?.[field] ?? "nothing"} → ${after[field] ?? "nothing"}`);
}

function match(text: string | undefined, pattern: string): string | undefined {
  return text === undefined ? undefined : new RegExp(pattern).exec(text)?.[1];
}

function numeric(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
