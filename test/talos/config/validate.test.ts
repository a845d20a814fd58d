// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  applyPatches,
  configRules,
  generateConfigWithFacts,
  generateMachineConfig,
  MachineConfig,
  type Mode,
  parsePatch,
  validateConfig,
} from "../../../talos/config/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";
import { clusterOf, contracts, secrets } from "./golden-secrets.ts";

interface Result {
  readonly warnings: readonly string[];
  readonly error: string | null;
}

interface Case {
  readonly id: string;
  readonly config: string;
  readonly strict: boolean;
  readonly results: Readonly<Record<Mode, Result>>;
}

const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const cases: readonly Case[] = JSON.parse(read("validate/index.json"));

/** Made with talosctl 1.14.1; `documents` in metal mode. */
const newer: {
  readonly cases: Readonly<Record<string, Readonly<Record<Mode, Result>>>>;
  readonly documents: readonly (Result & { readonly config: string })[];
} = JSON.parse(read("validate/talos-1.14.json"));

/** As talosctl of a release does it. */
function validate(text: string, minor: string, mode: Mode, strict = false): Result {
  const talos = TalosVersion.newestOf(Contract.parse(minor));
  try {
    const config = new MachineConfig(text, "config", configRules(talos.contract));
    const { warnings, error } = validateConfig(config, { mode, strict, talos, local: true });
    return { warnings, error: error ?? null };
  } catch (error) {
    return { warnings: [], error: TalosError.from(error).message };
  }
}

const rows = cases.flatMap((row) =>
  (["metal", "cloud", "container"] as const).flatMap((mode) =>
    (
      [
        ["1.13", row.results],
        ["1.14", newer.cases[row.id]],
      ] as const
    ).flatMap(([minor, results]) => {
      const result = results?.[mode];
      return result === undefined ? [] : [[`${row.id} in ${mode} mode by ${minor}`, row, minor, mode, result] as const];
    }),
  ),
);

describe("validation says what talosctl says", () => {
  test.each(rows)("%s", (_, row, minor, mode, result) => {
    const { warnings, error } = result;
    expect(validate(read(row.config), minor, mode, row.strict)).toEqual({ warnings, error });
  });

  test.each(newer.documents)("of $config", ({ config, warnings, error }) => {
    expect(validate(config, "1.14", "metal")).toEqual({ warnings, error });
  });
});

const checked = (text: string, mode: Mode = "metal") => validateConfig(new MachineConfig(text, "f.yaml"), { mode });

test("a null among texts is left out, as talosctl leaves it out", () => {
  const text = "machine:\n    certSANs: [null, a]\n";
  expect(applyPatches(text, [parsePatch("machine: {token: x}", "p")], "f")).toContain("certSANs:\n        - a\n");
});

test.each(["5", "-1"])("a duration of %s without a unit is refused", (value) => {
  const text = `apiVersion: v1alpha1\nkind: FilesystemTrimConfig\ninterval: ${value}\n`;
  expect(() => checked(text)).toThrow(`!!int \`${value}\` into time.Duration`);
});

describe("edges of values, as Talos 1.13.9 was seen to take them", () => {
  const check = (text: string) => {
    try {
      const talos = TalosVersion.parse("v1.13.9");
      const config = new MachineConfig(text, "f.yaml", configRules(talos.contract));
      return validateConfig(config, { mode: "metal", talos, local: true }).error ?? "valid";
    } catch (error) {
      const { message, hint } = TalosError.from(error);
      return `${message}\n${hint}`;
    }
  };
  const machine = (fields: string) => `version: v1alpha1
machine:
  type: worker
  token: a
  ca: {crt: aGVsbG8=}
  ${fields}
cluster:
  controlPlane: {endpoint: "https://1.2.3.4:6443"}
`;
  const bond = (address: string) =>
    `apiVersion: v1alpha1\nkind: BondConfig\nname: b0\nlinks: [a]\nbondMode: balance-rr\nhardwareAddr: "${address}"\n`;
  const rule = (ingress: string) =>
    `apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: k\nportSelector: {ports: [1], protocol: tcp}\ningress: ${ingress}\n`;
  const install = "install: {disk: /dev/sda}";
  const siderolink = (url: string) => `apiVersion: v1alpha1\nkind: SideroLinkConfig\napiUrl: ${url}\n`;
  const log = (url: string) => `apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: l\nurl: ${url}\n`;

  test.each([
    ["a MAC address", bond("AA:bb:cc:dd:ee:ff"), "valid"],
    ["one without colons", bond("aabbccddeeff"), "valid"],
    ["one with dashes", bond("aa-bb-cc-dd-ee-ff"), "line 6: encoding/hex: invalid byte: U+002D '-'"],
    ["half a byte", bond("aa:b"), "line 6: encoding/hex: odd length hex string"],
    [
      "a firewall rule for nobody",
      rule("[{except: 10.0.0.0/8}]"),
      "NetworkRuleConfig/k: invalid subnet: invalid Prefix",
    ],
    ["a URL with a query", siderolink("https://siderolink.api?jointoken=s"), "valid"],
    ["a URL with a query behind a slash", siderolink("https://siderolink.api/?jointoken=s"), "valid"],
    ["a URL with a path in its query", siderolink("grpc://siderolink.api:8081?jointoken=a/b"), "valid"],
    ["a URL with a path", siderolink("https://siderolink.api/x?jointoken=s"), "apiUrl path must be empty"],
    ["a URL in capitals", log("TCP://host:5"), "valid"],
    ["a port before a query", log("tcp://host:5?x=1"), "valid"],
    ["a port before a fragment", log("tcp://host:5#x"), "valid"],
    [
      "an address with a zone",
      machine(`${install}\n  network: {interfaces: [{interface: e, addresses: ["fe80::1%e"]}]}`),
      'failed to parse IP address "fe80::1%e"',
    ],
    ["an empty disk selector", machine("install: {diskSelector: {}}"), "valid"],
    ["no disk", machine("install: {}"), "either install disk or diskSelector should be defined"],
    [
      "an empty logging endpoint",
      machine(`${install}\n  logging: {destinations: [{endpoint: "", format: json_lines}]}`),
      "empty logging endpoint's host",
    ],
    [
      "no logging endpoint",
      machine(`${install}\n  logging: {destinations: [{format: json_lines}]}`),
      "1 error occurred:\n\t* empty logging endpoint",
    ],
    [
      "a size that no disk can have",
      machine("disks: [{device: /dev/sdb, partitions: [{size: 99999999999999999999999}]}]"),
      "line 6: too large: 99999999999999999999999",
    ],
    [
      "a size that is none",
      machine('install: {diskSelector: {size: "x"}}'),
      'line 6: failed to parse disk size x: strconv.ParseFloat: parsing "": invalid syntax',
    ],
    [
      "text for a list of interfaces",
      machine(`${install}\n  network: {interfaces: x}`),
      "cannot construct !!str `x` into v1alpha1.NetworkDeviceList",
    ],
    [
      "each value of the wrong kind, with its place",
      machine(`${install}\n  sysctls: [a]\n  features: {rbac: 7}`),
      "f.yaml:7:12: change machine.sysctls.\nf.yaml:8:20: change machine.features.rbac.",
    ],
  ])("%s", (_, text, answer) => {
    expect(check(text)).toContain(answer);
  });
});

describe("for a contract, what came later is refused", () => {
  const check = (text: string, contract: string): string | undefined =>
    validateConfig(new MachineConfig(text), { mode: "cloud", talos: TalosVersion.newestOf(Contract.parse(contract)) })
      .error;
  const kubespan = "apiVersion: v1alpha1\nkind: KubeSpanConfig\nenabled: true\n";
  const resolver =
    "apiVersion: v1alpha1\nkind: ResolverConfig\nhostDNS: {enabled: true}\nnameservers: [{address: 1.1.1.1}]\n";

  test.each([
    [kubespan, "v1.13", undefined],
    [kubespan, "v1.12", "KubeSpanConfig: exists from Talos v1.13 on, the machine runs v1.12"],
    [resolver, "v1.14", undefined],
    [resolver, "v1.13", "ResolverConfig: hostDNS exists from Talos v1.14 on, the machine runs v1.13"],
  ])("%j for %s", (text, contract, message) => {
    if (message === undefined) expect(check(text, contract)).toBeUndefined();
    else expect(check(text, contract)).toContain(message);
  });

  test("our own configs pass for the contract they are made for", () => {
    for (const contract of contracts) {
      const text = generateMachineConfig(clusterOf(contract, { kubespan: true }), secrets, { type: "controlplane" });
      expect(check(text, contract)).toBeUndefined();
    }
  });
});

describe("a selector that cannot be meant is refused with its place", () => {
  test.each([
    ['disk.transprot == "nvme"', "ERROR: <input>:1:5: undefined field 'transprot'"],
    ['disk .transprot == "nvme"', "ERROR: <input>:1:6: undefined field 'transprot'"],
    ["dsk.rotational", "ERROR: <input>:1:1: undeclared reference to 'dsk' (in container '')"],
    ["!disk.rotational && bar", "ERROR: <input>:1:21: undeclared reference to 'bar' (in container '')"],
    ["(disk.rotational", "ERROR: <input>:1:17: Syntax error: missing ')' at '<EOF>'"],
    ['disk.model == "a', "ERROR: <input>:1:15: Syntax error: token recognition error"],
    ["disk.transport ==", "ERROR: <input>:1:18: Syntax error: mismatched input '<EOF>'"],
  ])("%s", (match, message) => {
    const text = `apiVersion: v1alpha1\nkind: RawVolumeConfig\nname: x\nprovisioning:\n  minSize: 1GB\n  diskSelector:\n    match: '${match}'\n`;
    expect(checked(text).error).toContain(`disk selector is invalid: ${message}`);
  });

  test.each([
    "disk.size > 10u * GB && !system_disk",
    "disk.symlinks.exists(s, s == 'x')",
    "glob('*sda', disk.dev_path)",
    "disk.model.matches(r'^\\w+\\\\')",
    'disk.model == """it\'s"""',
    "disk.rotational // and the slow one's twin (\n&& disk.readonly",
    "disk . size > 1u && disk.`model` != ''",
  ])("%s is fine", (match) => {
    const text = `apiVersion: v1alpha1\nkind: RawVolumeConfig\nname: x\nprovisioning:\n  minSize: 1GB\n  diskSelector:\n    match: ${JSON.stringify(match)}\n`;
    expect(checked(text).error).toBeUndefined();
  });
});

describe("documents of 1.14 are checked too", () => {
  const document = (kind: string, rest: string): string => `apiVersion: v1alpha1\nkind: ${kind}\n${rest}`;
  test.each([
    [
      "LVMLogicalVolumeConfig",
      "name: data\ntype: linear\nmirrors: 1\nprovisioning: {volumeGroup: vg}\n",
      "mirrors is only valid for raid1/raid10, not linear\nprovisioning.maxSize is required",
    ],
    [
      "RAIDArrayConfig",
      "name: md 0\nlevel: raid1\nprovisioning: {volumeSelector: {match: foo}}\n",
      "name can only contain ASCII letters, digits, hyphens and underscores\nprovisioning.volumeSelector.match: ERROR: <input>:1:1: undeclared reference to 'foo'",
    ],
    ["EtcFileConfig", "name: ssl/x\nmode: 0o644\ncontents: x\n", 'user etc file "ssl/x" is managed by Talos'],
    ["VethConfig", "name: a\npeer: {}\n", "peer name must be specified"],
    ["HTTPProbeConfig", "name: p\nurl: ftp://x\n", 'HTTP probe URL scheme must be http or https, got "ftp"'],
    [
      "BGPInstanceConfig",
      "name: b\nlocalASN: 65000\nneighbors: [{link: eth0, address: 10.0.0.1}]\n",
      "neighbor[0]: exactly one of address or link must be set",
    ],
    [
      "ContainerConfig",
      "name: Web\nimage: nginx\nmounts: [{hostPath: {source: x, destination: /y}}]\n",
      'name "Web": name can only contain lowercase ASCII letters, digits and hyphens\nmounts[0]: hostPath.source "x" must be an absolute path',
    ],
    [
      "UnattendedInstallConfig",
      "installer: {image: x}\nprovisioning: {}\n",
      "provisioning.diskSelector.match is required",
    ],
    ["KubePrismConfig", "port: 70000\n", "invalid port 70000: must be in range 1-65535"],
  ])("%s", (kind, rest, message) => {
    expect(checked(document(kind, rest)).error).toContain(message);
  });

  test("and what moved out of the v1alpha1 document must not stand in both places", () => {
    const text = read("config/1.14/current/cni-none/controlplane.yaml");
    const { error } = checked(text);
    expect(error).toContain("can't be used with KubeFlannelCNIConfig document");
    expect(error).toContain("can't be used with KubeProxyConfig document");
  });
});

describe("what a machine would refuse is told with its places", () => {
  const of = (contract: string, talos: string, ...patches: string[]) => {
    const talosVersion = TalosVersion.parse(talos);
    const cluster = clusterOf(contract, {
      contract: Contract.parse(contract),
      talosVersion,
      kubernetesVersion: talosVersion.defaultKubernetesVersion,
    });
    const { config } = generateConfigWithFacts(cluster, secrets, { type: "worker", patches });
    return validateConfig(config, { mode: "metal", talos: talosVersion });
  };

  test("a setting that a document has, too: both places", () => {
    expect(of("v1.14", "v1.14.1", 'machine: {kubelet: {extraArgs: {v: "2"}}}').findings).toEqual([
      {
        severity: "error",
        document: "v1alpha1",
        path: "machine.kubelet",
        message: "kubelet config is already set in v1alpha1 config (.machine.kubelet)",
        conflictsWith: { document: "KubeletConfig", path: "" },
      },
    ]);
  });

  test("the same patch fits an older contract on the same Talos", () => {
    expect(of("v1.13", "v1.14.1", 'machine: {kubelet: {extraArgs: {v: "2"}}}').findings).toEqual([]);
  });

  test("a document that the release does not know", () => {
    const kubelet = "apiVersion: v1alpha1\nkind: SysctlConfig\nparams: {a: b}\n";
    expect(of("v1.13", "v1.13.9", kubelet).findings).toMatchObject([{ document: "SysctlConfig", path: "" }]);
    expect(of("v1.13", "v1.14.1", kubelet).findings).toEqual([]);
  });

  test("a Kubernetes that the release cannot run", () => {
    const patch = "machine: {kubelet: {image: 'ghcr.io/siderolabs/kubelet:v1.30.1'}}";
    expect(of("v1.13", "v1.14.1", patch).findings).toEqual([
      {
        severity: "error",
        document: "v1alpha1",
        path: "machine.kubelet.image",
        message: "kubelet image is not valid: version of Kubernetes 1.30.1 is too old to be used with Talos 1.14.1",
      },
    ]);
  });

  test("and nothing that is gone from the text: documents at hand are judged as they are read", () => {
    expect(of("v1.14", "v1.14.1", "machine: {nodeLabels: {}, network: {kubespan: {}}}").error).toBeUndefined();
    expect(of("v1.14", "v1.14.1", "machine: {nodeLabels: {a: b}}").error).toContain(
      ".machine.nodeLabels is already set",
    );
  });
});
