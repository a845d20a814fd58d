// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  applyPatches,
  type ClusterConfig,
  diffConfigs,
  generateMachineConfig,
  MachineConfig,
  movesInWords,
  parsePatch,
  redactConfig,
  secretsFromConfig,
} from "../../../talos/config/index.ts";
import { clusterOf, contracts, secrets } from "./golden-secrets.ts";

const diff = (before: string, after: string) => diffConfigs(new MachineConfig(before), new MachineConfig(after));
const base = generateMachineConfig(clusterOf("v1.13"), secrets, { type: "controlplane" });
const patched = (patch: string): string => applyPatches(base, [parsePatch(patch, "patch")], "config");

describe("the diff", () => {
  test("of a config with itself is empty, whatever its layout", () => {
    expect(diff(base, base)).toEqual([]);
    const shuffled = `# a comment\n${base.replace("version: v1alpha1\ndebug: false\n", "debug: false\nversion: v1alpha1\n")}`;
    expect(diff(base, shuffled)).toEqual([]);
  });

  test.each([
    [
      "a changed value",
      "machine: {install: {disk: /dev/vda}}",
      [["v1alpha1", "machine.install.disk", "changed", "/dev/sda", "/dev/vda", false]],
    ],
    [
      "a value that needs a reboot",
      "machine: {features: {diskQuotaSupport: false}}",
      [["v1alpha1", "machine.features.diskQuotaSupport", "changed", "true", "false", true]],
    ],
    [
      "a key of a map",
      "machine: {sysctls: {vm.swappiness: '10'}}",
      [["v1alpha1", "machine.sysctls", "added", undefined, 'vm.swappiness: "10"', false]],
    ],
    [
      "a list entry",
      "cluster: {network: {podSubnets: [10.1.0.0/16]}}",
      [
        ["v1alpha1", "cluster.network.podSubnets[]", "removed", "10.244.0.0/16", undefined, false],
        ["v1alpha1", "cluster.network.podSubnets[]", "added", undefined, "10.1.0.0/16", false],
      ],
    ],
    [
      "an element known by its name",
      "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {exemptions: {namespaces: [x]}}}]}}",
      [
        [
          "v1alpha1",
          "cluster.apiServer.admissionControl[name=PodSecurity].configuration.exemptions.namespaces[]",
          "added",
          undefined,
          "x",
          false,
        ],
      ],
    ],
    [
      "a document",
      "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 1400",
      [["LinkConfig/eth0", "", "added", undefined, undefined, false]],
    ],
    [
      "a field of a document",
      "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: x",
      [
        ["HostnameConfig", "auto", "changed", "stable", '"off"', false],
        ["HostnameConfig", "hostname", "added", undefined, "x", false],
      ],
    ],
    [
      "a file, which needs a reboot",
      "machine: {files: [{content: hi, path: /var/x, permissions: 0o600, op: create}]}",
      [
        [
          "v1alpha1",
          "machine.files",
          "added",
          undefined,
          "- content: '****** (2 bytes)'\n  permissions: 0o600\n  path: /var/x\n  op: create",
          true,
        ],
      ],
    ],
  ])("tells %s", (_, patch, expected) => {
    const changes = diff(base, patched(patch));
    const rows = changes.map(({ document, path, kind, before, after, reboot }) => [
      document,
      path,
      kind,
      before,
      after?.replace(/^ {4}(?=- )/gm, ""),
      reboot,
    ]);
    expect(rows.map((row) => JSON.stringify(row))).toEqual(expected.map((row) => JSON.stringify(row)));
  });

  test("hides secrets that change, come or go", () => {
    const token = "aaaaaa.bbbbbbbbbbbbbbbb";
    const other = patched(
      `machine: {token: ${token}, registries: {config: {ghcr.io: {auth: {username: me, password: hunter2}}}}}`,
    );
    const changes = diff(base, other);
    expect(changes.map((change) => [change.path, change.before, change.after])).toEqual([
      ["machine.token", "******", "******"],
      [
        "machine.registries",
        undefined,
        "config:\n    ghcr.io:\n        auth:\n            username: me\n            password: '******'",
      ],
    ]);
  });
});

test("hides what is named freely, where its name says that it is a secret", () => {
  const of = (value: string) =>
    patched(
      `machine: {kubelet: {extraArgs: {provider-token: ${value}, v: "${value}"}}, nodeAnnotations: {example.com/apiKey: ${value}}, sysctls: {a: ${value}}}`,
    );
  const changes = diff(of("one"), of("two")).map(({ path, before, after }) => [path, before, after]);
  expect(changes).toEqual([
    ["machine.kubelet.extraArgs.provider-token", "******", "******"],
    ["machine.kubelet.extraArgs.v", "one", "two"],
    ["machine.sysctls.a", "one", "two"],
    ["machine.nodeAnnotations.example.com/apiKey", "******", "******"],
  ]);
  const come = diff(base, of("one")).map(({ after }) => after);
  expect(come.join("\n")).not.toMatch(/(?:token|apiKey): one/);
  expect(redactConfig(new MachineConfig(of("one")))).toMatch(/provider-token: '\*{6}'[\s\S]*v: one/);
});

describe("what may hold a secret anywhere", () => {
  const file = (content: string) =>
    `machine: {files: [{content: ${content}, path: /var/x, permissions: 0o600, op: create}]}`;
  const manifest = (contents: string) => `cluster: {inlineManifests: [{name: token, contents: "${contents}"}]}`;
  const kind = (name: string, rest: string) => `apiVersion: v1alpha1\nkind: ${name}\nname: x\n${rest}\n`;
  const container = (environment: string) => kind("ContainerConfig", `image: a/b:1\nenvironment: [${environment}]`);
  const extension = (environment: string) => kind("ExtensionServiceConfig", `environment: [${environment}]`);
  const inline = (text: string) => kind("KubeInlineManifestConfig", `manifest: "${text}"`);

  test.each<[string, string, string, readonly [string, string, string]]>([
    [
      "a file's content",
      file("hunter1"),
      file("hunter-two"),
      ["machine.files[path=/var/x].content", "****** (7 bytes)", "****** (10 bytes)"],
    ],
    [
      "a manifest of the config",
      manifest("kind: hunter1"),
      manifest("kind: hunter2"),
      ["cluster.inlineManifests[name=token].contents", "****** (13 bytes)", "****** (13 bytes)"],
    ],
    [
      "a manifest of its own",
      inline("hunter1"),
      inline("hunter2"),
      ["manifest", "****** (7 bytes)", "****** (7 bytes)"],
    ],
    [
      "a password in a URL",
      "machine: {env: {http_proxy: 'http://me:hunter1@proxy:3128'}}",
      "machine: {env: {http_proxy: 'http://me:hunter2@proxy:3128'}}",
      ["machine.env.http_proxy", "http://me:******@proxy:3128", "http://me:******@proxy:3128"],
    ],
    [
      "a variable of the machine",
      "machine: {env: {SOME: hunter1, NO_PROXY: 'a,b'}}",
      "machine: {env: {SOME: hunter2, NO_PROXY: 'a,b'}}",
      ["machine.env.SOME", "******", "******"],
    ],
    [
      "a variable of the API server",
      "cluster: {apiServer: {env: {SOME: hunter1}}}",
      "cluster: {apiServer: {env: {SOME: hunter2}}}",
      ["cluster.apiServer.env.SOME", "******", "******"],
    ],
    [
      "a variable in a document of its own",
      "apiVersion: v1alpha1\nkind: EnvironmentConfig\nvariables: {SOME: hunter1}\n",
      "apiVersion: v1alpha1\nkind: EnvironmentConfig\nvariables: {SOME: hunter2}\n",
      ["variables.SOME", "******", "******"],
    ],
    [
      "a container's environment",
      container("TOKEN=hunter1"),
      container("TOKEN=hunter2, hunter3"),
      ["environment", "- TOKEN=******", "- TOKEN=******\n- '******'"],
    ],
    [
      "a service's environment",
      extension("A=hunter1"),
      extension("A=hunter2"),
      ["environment", "- A=******", "- A=******"],
    ],
  ])("is told as changed and not shown: %s", (_, before, after, expected) => {
    const [left, right] = [patched(before), patched(after)];
    const changes = diff(left, right);
    const lines = (text?: string) => text?.replace(/^ +/gm, "");
    expect(changes.map((change) => [change.path, lines(change.before), lines(change.after)])).toEqual([expected]);
    expect(JSON.stringify(diff(base, right))).not.toContain("hunter");
    const shown = redactConfig(new MachineConfig(right));
    expect(shown).not.toContain("hunter");
    expect(shown).toContain(expected[2].split("\n")[0]?.replace("- ", ""));
    expect(redactConfig(new MachineConfig(shown))).toBe(shown);
  });
});

test("variables that are known to be harmless are shown", () => {
  const env = "machine: {env: {GRPC_GO_LOG_SEVERITY_LEVEL: info, no_proxy: 'a,b', SOME: hunter1}}";
  expect(diff(base, patched(env)).map(({ after }) => after)).toEqual([
    "GRPC_GO_LOG_SEVERITY_LEVEL: info\nSOME: '******'\nno_proxy: a,b",
  ]);
  const other = env.replace("a,b", "a,b,c");
  expect(diff(patched(env), patched(other)).map(({ path, after }) => [path, after])).toEqual([
    ["machine.env.no_proxy", "a,b,c"],
  ]);
});

describe("the diff of two contracts", () => {
  const other = { kubespan: true, registryMirrors: { "docker.io": ["https://mirror.test"] } };
  const cases = (["controlplane", "worker"] as const).flatMap((type) =>
    [{}, { ...other, cni: { name: "none" } as const }, { allowSchedulingOnControlPlanes: true, discovery: false }].map(
      (options) => [type, options] as const,
    ),
  );
  const configOf = (contract: string, type: "controlplane" | "worker", options: Partial<ClusterConfig>): string =>
    generateMachineConfig(
      clusterOf(contract, { kubernetesVersion: "1.34.0", installImage: "i:1", ...options }),
      secrets,
      {
        type,
        hostname: "m-1",
        nodeLabels: { zone: "a" },
        nameservers: ["10.0.0.53"],
      },
    );

  test.each(cases)("1.13 and 1.14 of a %s %j tells what is kept elsewhere as moved", (type, options) => {
    const changes = diff(configOf("v1.13", type, options), configOf("v1.14", type, options));
    const rest = changes.filter(({ kind }) => kind !== "moved");
    // What 1.14 really adds, and two switches that it has no more.
    expect(rest.map(({ document, path, kind }) => `${kind} ${document} ${path}`.trim())).toEqual([
      "removed v1alpha1 machine.kubelet",
      "removed v1alpha1 machine.install",
      "added VolumeConfig/EPHEMERAL",
      "added FilesystemTrimConfig",
      "added SecurityProfileConfig",
      ...(type === "controlplane" ? ["added KubeAuthenticationConfig"] : []),
    ]);
    expect(changes).toContainEqual(
      expect.objectContaining({ kind: "moved", path: "cluster.ca", to: "KubeAPIServerCAConfig", since: 14 }),
    );
    expect(movesInWords(changes)).toMatch(
      /^moved, not changed, for Talos 1\.14 keeps them in documents of their own: .*cluster\.ca, /,
    );
  });

  test("tells a value that moved and changed at its new place, and not as moved", () => {
    const [before, after] = [
      configOf("v1.13", "controlplane", {}),
      configOf("v1.14", "controlplane", { kubernetesVersion: "1.35.0" }),
    ];
    const kubelet = diff(before, after).filter(({ path, to }) => `${to} ${path}`.includes("ubelet"));
    expect(kubelet.map(({ kind, document, path }) => `${kind} ${document} ${path}`)).toEqual([
      "moved v1alpha1 machine.kubelet.defaultRuntimeSeccompProfileEnabled",
      "removed v1alpha1 machine.kubelet",
    ]);
    expect(diff(before, after)).toContainEqual({
      document: "KubeletConfig",
      path: "image",
      kind: "changed",
      before: "ghcr.io/siderolabs/kubelet:v1.34.0",
      after: "ghcr.io/siderolabs/kubelet:v1.35.0",
      reboot: false,
    });
  });

  const eth0 = (more: string) => `machine: {network: {interfaces: [{interface: eth0, ${more}}]}}`;
  const link = (more: string) => `apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n${more}`;
  const volume = (name: string, keys: string) =>
    `apiVersion: v1alpha1\nkind: VolumeConfig\nname: ${name}\nencryption: {provider: luks2, keys: ${keys}}`;
  const encrypted = (keys: string) => `{provider: luks2, keys: ${keys}}`;
  test.each<[string, string, string, readonly string[]]>([
    [
      "an interface with all that a document has",
      eth0(
        "addresses: [10.5.0.2/24], mtu: 1450, vip: {ip: 10.5.0.10}, routes: [{network: 0.0.0.0/0, gateway: 10.5.0.1}, {network: 10.9.0.0/16, gateway: 10.5.0.9, metric: 7}]",
      ),
      `${link("up: true\nmtu: 1450\naddresses: [{address: 10.5.0.2/24}]\nroutes: [{gateway: 10.5.0.1}, {destination: 10.9.0.0/16, gateway: 10.5.0.9, metric: 7}]")}\n---\napiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.5.0.10\nlink: eth0`,
      ["moved v1alpha1 machine.network.interfaces"],
    ],
    [
      "one that a document need not tell to be up",
      eth0("addresses: [10.5.0.2/24]"),
      link("addresses: [{address: 10.5.0.2/24}]"),
      ["moved v1alpha1 machine.network.interfaces"],
    ],
    [
      "one with DHCP",
      eth0("dhcp: true"),
      "apiVersion: v1alpha1\nkind: DHCPv4Config\nname: eth0",
      ["moved v1alpha1 machine.network.interfaces"],
    ],
    [
      "one that is also changed",
      eth0("addresses: [10.5.0.2/24], mtu: 1450"),
      link("mtu: 9000\naddresses: [{address: 10.5.0.2/24}]"),
      ["changed LinkConfig/eth0 mtu"],
    ],
    [
      "one with a further address",
      eth0("addresses: [10.5.0.2/24]"),
      link("addresses: [{address: 10.5.0.2/24}, {address: 10.6.0.2/24}]"),
      ["added LinkConfig/eth0 addresses[]"],
    ],
    [
      "one that goes down",
      eth0("addresses: [10.5.0.2/24]"),
      link("up: false\naddresses: [{address: 10.5.0.2/24}]"),
      ["changed LinkConfig/eth0 up"],
    ],
    [
      "one with more than the document has",
      eth0("addresses: [10.5.0.2/24], bond: {interfaces: [a, b], mode: 802.3ad}"),
      link("addresses: [{address: 10.5.0.2/24}]"),
      ["removed v1alpha1 machine.network", "added LinkConfig/eth0"],
    ],
    [
      "one whose document is of another link",
      eth0("addresses: [10.5.0.2/24]"),
      link("addresses: [{address: 10.5.0.2/24}]").replace("eth0", "eth1"),
      ["removed v1alpha1 machine.network", "added LinkConfig/eth1"],
    ],
    [
      "keys of encrypted volumes",
      `machine: {systemDiskEncryption: {state: ${encrypted("[{slot: 0, nodeID: {}}]")}, ephemeral: ${encrypted("[{slot: 0, tpm: {}}]")}}}`,
      `${volume("STATE", "[{slot: 0, nodeID: {}}]")}\n---\n${volume("EPHEMERAL", "[{slot: 0, tpm: {}}]")}`,
      ["moved v1alpha1 machine.systemDiskEncryption.state", "moved v1alpha1 machine.systemDiskEncryption.ephemeral"],
    ],
    [
      "the cache of images",
      "machine: {features: {imageCache: {localEnabled: true}}}",
      "apiVersion: v1alpha1\nkind: ImageCacheConfig\nlocal: {enabled: true}",
      ["moved v1alpha1 machine.features.imageCache.localEnabled"],
    ],
    [
      "a mirror without fallback",
      "machine: {registries: {mirrors: {docker.io: {endpoints: [https://mirror.test], skipFallback: true}}}}",
      "apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: docker.io\nendpoints: [{url: https://mirror.test}]\nskipFallback: true",
      ["moved v1alpha1 machine.registries.mirrors"],
    ],
    [
      "volumes of a component, for which the newer form has no place",
      "cluster: {apiServer: {extraVolumes: [{hostPath: /a, mountPath: /b}]}}",
      "machine: {}",
      ["removed v1alpha1 cluster.apiServer.extraVolumes"],
    ],
  ])("%s: what is told", (_, before, after, expected) => {
    const changes = diff(patched(before), patched(after));
    expect(changes.map(({ kind, document, path }) => `${kind} ${document} ${path}`.trim())).toEqual(expected);
  });

  test("1.11 and 1.12 of a machine with our own network has nothing but moves in it", () => {
    const [before, after] = ["v1.11", "v1.12"].map((contract) =>
      generateMachineConfig(clusterOf(contract, { virtualIp: { address: "10.5.0.10", link: "eth0" } }), secrets, {
        type: "controlplane",
        links: [{ name: "eth0", addresses: ["10.5.0.11/24", "fd00::11/64"], gateway: "10.5.0.1", mtu: 1450 }],
        nameservers: ["10.0.0.53"],
      }),
    );
    const network = diff(before ?? "", after ?? "").filter(({ document, path }) =>
      `${document} ${path}`.match(/network|Link|VIP|Resolver/),
    );
    expect(network.map(({ kind, path, to }) => `${kind} ${path} ${to}`)).toEqual([
      "moved machine.network.interfaces LinkConfig",
      "moved machine.network.nameservers ResolverConfig",
    ]);
  });

  test("never hides what is lost without a place in the newer form", () => {
    const lost = "cluster: {discovery: {registries: {kubernetes: {disabled: false}}}, coreDNS: {disabled: true}}";
    const before = applyPatches(configOf("v1.13", "controlplane", {}), [parsePatch(lost, "patch")], "config");
    const changes = diff(before, configOf("v1.14", "controlplane", {}));
    expect(changes.filter(({ kind }) => kind === "removed").map(({ path }) => path)).toContain("cluster.discovery");
    expect(changes).toContainEqual(
      expect.objectContaining({ document: "KubeCoreDNSConfig", kind: "changed", after: "true" }),
    );
  });

  test("within a contract, has nothing that moved", () => {
    const without = applyPatches(base, [parsePatch("cluster: {discovery: {$patch: delete}}", "patch")], "config");
    expect(diff(base, without).map(({ kind, path }) => `${kind} ${path}`)).toEqual(["removed cluster.discovery"]);
    expect(movesInWords(diff(base, without))).toBeUndefined();
  });

  test("1.12 and 1.13 is empty but for the release", () => {
    expect(diff(configOf("v1.12", "worker", {}), configOf("v1.13", "worker", {}))).toEqual([]);
  });
});

describe.each(contracts)("redaction, contract %s", (contract) => {
  const text = generateMachineConfig(clusterOf(contract), secrets, { type: "controlplane" });
  const shown = redactConfig(new MachineConfig(text));

  test("leaves no secret of the bundle", () => {
    const { cluster, secrets: tokens, trustdInfo, certs } = secrets;
    const hidden = [cluster.secret, tokens.bootstrapToken, tokens.secretboxEncryptionSecret ?? "", trustdInfo.token];
    for (const { key } of Object.values(certs))
      hidden.push(Buffer.from(key).toString("base64"), key.split("\n")[1] ?? "");
    for (const secret of hidden) {
      expect(shown).not.toContain(secret);
    }
  });

  test("leaves a config that can still be read, with everything else in it", () => {
    expect(redactConfig(new MachineConfig(shown))).toBe(shown);
    expect(shown).toContain("https://10.5.0.10:6443");
  });

  test("the bundle can be taken back out of the config itself, but not out of the redacted one", () => {
    expect(secretsFromConfig(text, "config")).toEqual(secrets);
    expect(() => secretsFromConfig(shown, "config")).toThrow("secrets bundle is not valid");
    const worker = generateMachineConfig(clusterOf(contract), secrets, { type: "worker" });
    expect(() => secretsFromConfig(worker, "config")).toThrow(
      'found machine type "worker", expected the config of a control plane',
    );
  });
});

describe("a certificate in a diff", () => {
  const certificate = secrets.certs.os.certificate;
  const encoded = Buffer.from(certificate).toString("base64");
  const config = (crt: string) =>
    `version: v1alpha1\nmachine:\n    type: worker\n    ca:\n        crt: ${crt}\n        key: ""\n`;
  const other = Buffer.from(secrets.certs.etcd.certificate).toString("base64");

  test("is one line with the fingerprint that openssl shows, and different for another one", () => {
    const [change] = diff(config(encoded), config(other));
    const fingerprint = new X509Certificate(certificate).fingerprint256.replaceAll(":", "").toLowerCase();
    expect(change?.before).toMatch(/^certificate O=talos, until \d{4}-\d\d-\d\d, SHA-256 [0-9a-f]{64}$/);
    expect(change?.before).toContain(fingerprint);
    expect(change?.after).toContain("certificate O=etcd");
    expect(change?.after).not.toContain(other.slice(0, 60));
  });
});
