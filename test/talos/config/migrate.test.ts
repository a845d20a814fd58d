// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  generateConfigWithFacts,
  type MachineConfig,
  type MachineType,
  validateConfig,
} from "../../../talos/config/index.ts";
import {
  afterPatch,
  changesByEffect,
  compareMeaning,
  type MigrationTarget,
  migratePatch,
  newDefaults,
  patchNodes,
  releaseChanges,
  withoutEffectInWords,
  writeNodes,
} from "../../../talos/config/migrate/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";
import { stringifyYaml, type YamlValue } from "../../../talos/yaml/index.ts";
import { everything } from "../../support/everything.ts";
import { clusterOf, secrets } from "./golden-secrets.ts";

const running = TalosVersion.newestOf(Contract.parse("v1.14"));

function config(contract: string, type: MachineType, patches: readonly string[] = []): MachineConfig {
  const cluster = clusterOf("v1.14", { contract: Contract.parse(contract), talosVersion: running });
  return generateConfigWithFacts(cluster, secrets, { type, hostname: "m-1", patches }).config;
}

const meaning = (before: MachineConfig, after: MachineConfig, talos = running.contract) =>
  compareMeaning(before, after, talos);

function targetOf(contract: string): MigrationTarget {
  const documents = (type: MachineType) => config(contract, type).decode();
  return {
    contract: Contract.parse(contract),
    base: { controlplane: documents("controlplane"), worker: documents("worker") },
  };
}

const to14 = targetOf("v1.14");

function migrated(patch: string, roles: readonly MachineType[] = ["controlplane"], target = to14) {
  const result = migratePatch(patchNodes(patch), roles, target);
  return {
    documents: result.documents.map((node) => writeNodes([node])),
    controlPlane: result.controlPlane.map((node) => writeNodes([node])),
    moved: result.moved.map(({ path }) => path),
    left: result.left.map(({ path }) => path),
  };
}

const head = (kind: string, name?: string) =>
  `apiVersion: v1alpha1\nkind: ${kind}\n${name === undefined ? "" : `name: ${name}\n`}`;

/** Patches that keep off what the contract would switch on, as far as it can be kept off. */
function offPatches(contract: string, type: MachineType, before: MachineConfig): readonly string[] {
  const on = newDefaults.filter(
    (one) =>
      !one.isOn(before.decode(), running.contract) &&
      one.isOn(config(contract, type).decode(), running.contract) &&
      (!one.controlPlane || type === "controlplane"),
  );
  return on.flatMap((one) => one.off(Contract.parse(contract)) ?? []).map((patch) => stringifyYaml(patch));
}

describe("a patch in the form of contract 1.14", () => {
  test.each<[name: string, before: string, after: readonly string[]]>([
    [
      "arguments of the kubelet",
      'machine: {kubelet: {extraArgs: {v: "2"}}}',
      [`${head("KubeletConfig")}extraArgs: { v: "2" }\n`],
    ],
    [
      "labels, one of them deleted",
      "machine:\n  nodeLabels:\n    zone: a\n    old: { $patch: delete }\n",
      [`${head("KubeNodeConfig")}labels:\n  zone: a\n  old: { $patch: delete }\n`],
    ],
    [
      "a CNI that is installed later",
      "cluster: {network: {cni: {name: none}}, proxy: {disabled: true}}",
      [`${head("KubeFlannelCNIConfig")}$patch: delete\n`, `${head("KubeProxyConfig")}enabled: false\n`],
    ],
    [
      "a CNI by URL",
      "cluster: {network: {cni: {name: custom, urls: [https://cni.test/a.yaml]}}}",
      [
        `${head("KubeFlannelCNIConfig")}$patch: delete\n`,
        `${head("KubeExternalManifestConfig", "custom-cni")}url: https://cni.test/a.yaml\n`,
      ],
    ],
    [
      "an admission plugin that is deleted",
      "cluster: {apiServer: {admissionControl: [{name: PodSecurity, $patch: delete}]}}",
      [`${head("KubeAdmissionControlConfig", "PodSecurity")}$patch: delete\n`],
    ],
    [
      "pods on control planes",
      "cluster: {allowSchedulingOnControlPlanes: true}",
      [`${head("KubeNodeConfig")}taints:\n  node-role.kubernetes.io/control-plane:\n    $patch: delete\n`],
    ],
    [
      "mirrors and credentials of a registry",
      "machine: {registries: {mirrors: {ghcr.io: {endpoints: [https://m.test], overridePath: true}}, config: {ghcr.io: {auth: {username: u}}}}}",
      [
        `${head("RegistryMirrorConfig", "ghcr.io")}endpoints:\n  - url: https://m.test\n    overridePath: true\n`,
        `${head("RegistryAuthConfig", "ghcr.io")}username: u\n`,
      ],
    ],
    [
      "what is switched off by its absence",
      "machine: {features: {kubePrism: {enabled: false}}}\ncluster: {discovery: {enabled: false}}",
      [`${head("KubePrismConfig")}$patch: delete\n`, `${head("DiscoveryServiceConfig", "default")}$patch: delete\n`],
    ],
    [
      "what documents do not have stays",
      "machine:\n  network: { nameservers: [1.1.1.1] }\n  files: [{ content: a, permissions: 0644, path: /var/a, op: create }]\n",
      [
        "machine:\n  files: [ { content: a, permissions: 0644, path: /var/a, op: create } ]\n",
        `${head("ResolverConfig")}nameservers:\n  - address: 1.1.1.1\n`,
      ],
    ],
    [
      "RFC 6902 operations",
      '[{"op": "add", "path": "/machine/kubelet/extraArgs", "value": {"v": "2"}}, {"op": "remove", "path": "/machine/nodeLabels/a~1b"}, {"op": "add", "path": "/machine/certSANs/-", "value": "x.test"}]',
      [
        'machine:\n  certSANs:\n    - "x.test"\n',
        `${head("KubeletConfig")}extraArgs: { "v": "2" }\n`,
        `${head("KubeNodeConfig")}labels:\n  a/b:\n    $patch: delete\n`,
      ],
    ],
    [
      "a disk by what it is",
      'machine: {install: {diskSelector: {type: nvme, size: ">= 200GB", model: WDC*}, extraKernelArgs: []}}',
      [
        `${head("UnattendedInstallConfig")}provisioning:\n  diskSelector:\n    match: disk.size >= 200u * GB && glob("WDC*", disk.model) && disk.transport == "nvme"\n`,
      ],
    ],
    [
      "flags of kube-proxy, which reads a file now",
      'cluster: {proxy: {extraArgs: {metrics-bind-address: "0.0.0.0:10249", ipvs-strict-arp: "true", v: "3"}}}',
      [
        `${head("KubeProxyConfig")}config:\n  metricsBindAddress: "0.0.0.0:10249"\n  ipvs:\n    strictARP: true\nextraArgs:\n  v: "3"\n`,
      ],
    ],
  ])("%s", (_, before, after) => {
    const { documents, controlPlane, left } = migrated(before);
    expect({ documents, controlPlane, left }).toEqual({ documents: after, controlPlane: [], left: [] });
  });

  test("comments go along, and quotes and numbers stay as they are written", () => {
    const before = [
      "# for the database",
      "machine:",
      "  kubelet:",
      "    # rotate",
      "    extraArgs:",
      "      v: '2' # louder",
      "    extraConfig: { maxPods: 0250 }",
      "",
    ];
    const after = [
      "# for the database",
      ...head("KubeletConfig").trimEnd().split("\n"),
      "# rotate",
      "extraArgs:",
      "  v: '2' # louder",
      "config: { maxPods: 0250 }",
      "",
    ];
    expect(migrated(before.join("\n")).documents).toEqual([after.join("\n")]);
  });

  test("what only control planes may have is taken out of a patch for all machines", () => {
    const patch =
      "machine: {nodeLabels: {a: b}}\ncluster: {apiServer: {env: {A: b}}, allowSchedulingOnControlPlanes: true}";
    const { documents, controlPlane } = migrated(patch, ["controlplane", "worker"]);
    expect(documents).toEqual([`${head("KubeNodeConfig")}labels: { a: b }\n`]);
    expect(controlPlane.map((text) => /kind: (\w+)/.exec(text)?.[1])).toEqual([
      "KubeAPIServerConfig",
      "KubeNodeConfig",
    ]);
    expect(migrated(patch, ["worker"])).toMatchObject({ documents, controlPlane: [] });
  });

  test.each([
    ["machine: {kubelet: {extraMounts: [{destination: /a}]}}", ["machine.kubelet.extraMounts"]],
    ["machine: {install: {extraKernelArgs: [a]}}", ["machine.install.extraKernelArgs"]],
    ["machine: {kubelet: {$patch: delete}}", ["machine.kubelet"]],
    ["machine: {network: {interfaces: [{interface: eth0, dhcp: true}]}}", ["machine.network.interfaces"]],
    ["machine: &all\n  nodeLabels: {a: b}\n", ["machine.nodeLabels"]],
    ["cluster: {apiServer: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}", ["cluster.apiServer.extraVolumes"]],
    ["cluster: {apiServer: {extraArgs: {oidc-issuer-url: a}}}", ["cluster.apiServer.extraArgs.oidc-issuer-url"]],
    ["cluster: {proxy: {extraArgs: {sync-period: 1s}}}", ["cluster.proxy.extraArgs.sync-period"]],
    ["cluster: {ca: {crt: YQ==, key: YQ==}}", ["cluster.ca"]],
    ['[{"op": "test", "path": "/machine/type", "value": "worker"}]', ["machine.type"]],
    [
      '[{"op": "add", "path": "/machine/network/interfaces/0/dhcp", "value": true}]',
      ["machine.network.interfaces.0.dhcp"],
    ],
  ])("named and left: %s", (patch, paths) => {
    expect(migrated(patch)).toMatchObject({ left: paths, moved: [] });
  });

  test("a part that cannot be moved does not keep the rest", () => {
    const { documents, left } = migrated('cluster: {apiServer: {extraArgs: {v: "2", oidc-issuer-url: a}}}');
    expect(left).toEqual(["cluster.apiServer.extraArgs.oidc-issuer-url"]);
    expect(documents).toEqual([
      "cluster: { apiServer: { extraArgs: { oidc-issuer-url: a } } }\n",
      `${head("KubeAPIServerConfig")}extraArgs:\n  v: "2"\n`,
    ]);
  });

  test("older contracts keep what they keep in one document", () => {
    const patch = "machine: {kubelet: {extraArgs: {v: a}}, network: {hostname: a, kubespan: {enabled: true}}}";
    expect(migrated(patch, ["worker"], targetOf("v1.12")).moved).toEqual(["machine.network.hostname"]);
    expect(migrated(patch, ["worker"], targetOf("v1.11")).moved).toEqual([]);
  });
});

describe("the meaning of a config in another contract", () => {
  test.each([
    ["v1.9", "v1.14"],
    ["v1.10", "v1.12"],
    ["v1.11", "v1.13"],
    ["v1.13", "v1.14"],
  ])("%s and %s differ only in new defaults", (from, to) => {
    for (const type of ["controlplane", "worker"] as const) {
      const before = config(from, type);
      expect(meaning(before, config(to, type)).changes).toEqual([]);
      const kept = config(to, type, offPatches(to, type, before));
      // With contract 1.14 the arguments of the kernel always come from the image.
      const always = (to === "v1.14" && from < "v1.12") || from === "v1.9" ? ["kernel-args-from-image"] : [];
      expect(meaning(before, kept)).toEqual({ changes: [], switchedOn: always });
      expect(validateConfig(kept, { mode: "metal", talos: running }).error).toBeUndefined();
    }
  });

  test("what the newer contract switches on is named", () => {
    expect(meaning(config("v1.13", "controlplane"), config("v1.14", "controlplane")).switchedOn).toEqual([
      "secure-ephemeral",
      "filesystem-trim",
      "workload-isolation",
      "anonymous-health",
    ]);
  });

  test("a volume that has its document is mounted securely already", () => {
    const patch = `${head("VolumeConfig", "EPHEMERAL")}provisioning: { maxSize: 50GiB }\n`;
    const { switchedOn } = meaning(config("v1.13", "worker", [patch]), config("v1.14", "worker", [patch]));
    expect(switchedOn).toEqual(["filesystem-trim", "workload-isolation"]);
  });

  test("Talos 1.13 mounts the volume securely without a document, older ones never", () => {
    const patch = `${head("VolumeConfig", "EPHEMERAL")}provisioning: { maxSize: 50GiB }\n`;
    const [before, after] = [config("v1.10", "worker"), config("v1.10", "worker", [patch])];
    const switched = (talos: string) => meaning(before, after, Contract.parse(talos)).switchedOn;
    expect(["v1.12", "v1.13", "v1.14"].map(switched)).toEqual([[], [], ["secure-ephemeral"]]);
  });

  test.each([
    ["a lost setting", 'machine: {kubelet: {extraArgs: {v: "2"}}}', ""],
    ["another value", "machine: {nodeLabels: {a: b}}", `${head("KubeNodeConfig")}labels: { a: c }\n`],
    ["a component that is gone", "", `${head("KubeFlannelCNIConfig")}$patch: delete\n`],
    ["another interval", `${head("FilesystemTrimConfig")}interval: 24h\n`, ""],
  ])("%s is a change", (_, before, after) => {
    const [left, right] = [config("v1.13", "controlplane", [before]), config("v1.14", "controlplane", [after])];
    expect(meaning(left, right).changes).not.toEqual([]);
  });
});

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
const texts = fc.dictionary(word, fc.constantFrom("2", "true", "a b", "0644"), { minKeys: 1, maxKeys: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

/** A piece of a v1alpha1 config, of settings that every contract has somewhere. */
const piece = fc.record({
  machine: maybe(
    fc.record({
      kubelet: maybe(
        fc.record({
          extraArgs: maybe(texts),
          extraConfig: maybe(fc.record({ maxPods: fc.integer({ min: 1, max: 500 }) })),
          clusterDNS: maybe(fc.constant(["10.96.0.10"])),
          nodeIP: maybe(fc.constant({ validSubnets: ["10.0.0.0/8"] })),
          registerWithFQDN: maybe(fc.boolean()),
        }),
      ),
      nodeLabels: maybe(texts),
      nodeAnnotations: maybe(texts),
      nodeTaints: maybe(fc.dictionary(word, fc.constant("a:NoSchedule"), { minKeys: 1, maxKeys: 2 })),
      sysctls: maybe(texts),
      certSANs: maybe(words),
      time: maybe(fc.record({ servers: words, disabled: fc.boolean() })),
      network: maybe(
        fc.record({
          nameservers: maybe(fc.constant(["1.1.1.1", "fd00::53"])),
          searchDomains: maybe(words),
          kubespan: maybe(fc.record({ enabled: fc.boolean(), mtu: maybe(fc.integer({ min: 1280, max: 1420 })) })),
          extraHostEntries: maybe(fc.constant([{ ip: "10.1.1.1", aliases: ["a", "b"] }])),
        }),
      ),
      registries: maybe(
        fc.record({
          mirrors: maybe(
            fc.dictionary(
              word,
              fc.record({ endpoints: fc.constant(["https://m.test"]), skipFallback: maybe(fc.boolean()) }),
            ),
          ),
        }),
      ),
      features: maybe(
        fc.record({
          kubePrism: maybe(fc.record({ enabled: fc.boolean(), port: fc.integer({ min: 1024, max: 9999 }) })),
          hostDNS: maybe(fc.record({ enabled: fc.constant(true), resolveMemberNames: fc.boolean() })),
        }),
      ),
    }),
  ),
  cluster: maybe(
    fc.record({
      apiServer: maybe(fc.record({ extraArgs: maybe(texts), certSANs: maybe(words), env: maybe(texts) })),
      controllerManager: maybe(fc.record({ extraArgs: texts })),
      scheduler: maybe(fc.record({ extraArgs: maybe(texts), config: maybe(fc.constant({ parallelism: 3 })) })),
      proxy: maybe(fc.record({ disabled: maybe(fc.boolean()), mode: maybe(fc.constantFrom("ipvs", "nftables")) })),
      coreDNS: maybe(fc.record({ disabled: fc.boolean() })),
      network: maybe(
        fc.record({
          dnsDomain: maybe(word),
          podSubnets: maybe(fc.constant(["10.200.0.0/16"])),
          cni: maybe(
            fc.constantFrom<YamlValue>(
              { name: "none" },
              { name: "custom", urls: ["https://cni.test/a.yaml", "https://cni.test/b.yaml"] },
              { name: "flannel", flannel: { extraArgs: ["--iface=eth0"] } },
            ),
          ),
        }),
      ),
      discovery: maybe(fc.record({ enabled: fc.boolean() })),
      allowSchedulingOnControlPlanes: maybe(fc.boolean()),
      etcd: maybe(fc.record({ extraArgs: texts })),
    }),
  ),
});

describe("the changes of a migration, for people", () => {
  const before = config("v1.13", "controlplane");
  const byEffect = (...patches: string[]) => {
    const after = config("v1.14", "controlplane", patches);
    const { effective, withoutEffect } = changesByEffect(before, after, running.contract);
    const places = effective.filter(({ kind }) => kind !== "moved").map(({ document, path }) => `${document} ${path}`);
    return { places, same: withoutEffectInWords(withoutEffect, Contract.parse("v1.14")) };
  };
  const off = offPatches("v1.14", "controlplane", before);

  test("those that mean the same have no effect", () => {
    const { places, same } = byEffect(...off);
    expect(places).toEqual([]);
    expect(same).toMatch(/^no effect, contract v1\.14 means the same: .*SecurityProfileConfig/);
    expect(same).toContain("machine.kubelet");
  });

  test("a new default that is switched on, and any other change, has one", () => {
    expect(byEffect(...off.filter((patch) => !patch.includes("SecurityProfileConfig"))).places).toEqual([
      "SecurityProfileConfig ",
    ]);
    expect(byEffect(...off, "machine: { sysctls: { a: b } }").places).toEqual(["v1alpha1 machine.sysctls"]);
  });
});

describe("what an upgrade changes although the config stays", () => {
  const upgrade = (from: string, to: string, ...patches: string[]) => {
    const own = config("v1.12", "worker", patches);
    const machine = { name: "w-1", from: TalosVersion.parse(from), before: own, after: own };
    return releaseChanges([machine], TalosVersion.parse(to));
  };

  test("is said for each release that reads it differently", () => {
    expect(upgrade("v1.13.9", "v1.14.1")).toEqual([
      "w-1: Talos v1.14.1 no longer does this by itself: /var is mounted with nosuid and nodev. To keep it, add a patch with VolumeConfig/EPHEMERAL and mount: { secure: true }.",
    ]);
    expect(upgrade("v1.12.4", "v1.13.9")).toEqual([
      "w-1: Talos v1.13.9 does this by itself: /var is mounted with nosuid and nodev. A patch with VolumeConfig/EPHEMERAL decides it for every release.",
    ]);
  });

  test("and nothing where the config decides it, or both releases read the same", () => {
    expect(upgrade("v1.13.9", "v1.14.1", `${head("VolumeConfig", "EPHEMERAL")}mount: { secure: true }\n`)).toEqual([]);
    expect(upgrade("v1.13.5", "v1.13.9")).toEqual([]);
    expect(upgrade("v1.12.4", "v1.14.1")).toEqual([]);
  });
});

describe("random patches", () => {
  const pairs = ["v1.9", "v1.10", "v1.11", "v1.12", "v1.13"].flatMap((from) =>
    ["v1.10", "v1.11", "v1.12", "v1.13", "v1.14"]
      .filter((to) => Contract.parse(to).includes(minor(from) + 1))
      .map((to) => [from, to] as const),
  );
  const targets = new Map([...new Set(pairs.map(([, to]) => to))].map((to) => [to, targetOf(to)]));

  test("mean the same after the move, are accepted, and are moved once", () => {
    const input = fc.record({
      pair: fc.constantFrom(...pairs),
      type: fc.constantFrom<MachineType>("controlplane", "worker"),
      patches: fc.array(piece, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(input, ({ pair: [from, to], type, patches }) => {
        let target = targets.get(to) ?? to14;
        const texts = patches.map((patch) => stringifyYaml(patch as YamlValue));
        const before = config(from, type, texts);
        fc.pre(validateConfig(before, { mode: "metal", talos: running }).error === undefined);
        const results = texts.map((text) => {
          const result = migratePatch(patchNodes(text), [type], target);
          target = afterPatch(target, [type], result);
          return result;
        });
        expect(results.flatMap(({ left }) => left)).toEqual([]);
        const moved = results.map(({ documents }) => writeNodes(documents));
        const after = config(to, type, [...offPatches(to, type, before), ...moved]);
        const { changes, switchedOn } = meaning(before, after);
        expect(changes).toEqual([]);
        const { effective } = changesByEffect(before, after, running.contract);
        expect(effective.filter(({ kind, path }) => kind !== "moved" && !path.endsWith("grubUseUKICmdline"))).toEqual(
          [],
        );
        expect(switchedOn.filter((id) => id !== "kernel-args-from-image")).toEqual([]);
        expect(validateConfig(after, { mode: "metal", talos: running }).error).toBeUndefined();
        for (const text of moved) expect(migratePatch(patchNodes(text), [type], target).moved).toEqual([]);
      }),
      { numRuns: everything ? 80 : 25 },
    );
  });
});

function minor(contract: string): number {
  return Number(contract.slice("v1.".length));
}
