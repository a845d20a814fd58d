// SPDX-License-Identifier: Apache-2.0
// Settings that users expect, from the environment's file to what providers are given.
import { describe, expect, it } from "vitest";
import { instance, instancesOf, machineOf, machinesOf, stackOf } from "./project.ts";

const cluster = (stack: ReturnType<typeof stackOf>) => stack.resource.talosmith_cluster?.cluster;

it("has a pool that is called as the backup is, with a backup", () => {
  const stack = stackOf(`
infrastructure: { kind: simulated }
controlPlane: {}
workers: [{ name: backup, count: 1 }]
backup: { directory: backups }
`);
  expect(Object.keys(stack.resource.talosmith_etcd_snapshot ?? {})).toEqual(["backup"]);
  expect([...instancesOf(stack).keys()]).toContain('talosmith_simulated_machine.backup["backup-1"]');
});

describe("an air gap", () => {
  const stack = stackOf(`
cluster:
  discovery: false
  airGap:
    mirrors: { "*": [https://mirror.example], registry.k8s.io: [https://k8s.example] }
    imageCache: true
    factory: https://factory.example
infrastructure: { kind: libvirt, trustOnFirstUse: true }
controlPlane: {}
`);

  it("takes installers and disk images from its own factory", () => {
    expect(cluster(stack)?.install_image).toMatch(/^factory\.example\/nocloud-installer\/[0-9a-f]{64}:v1\.13\.9$/);
    expect(JSON.stringify(stack.resource.libvirt_volume?.image?.create)).toMatch(
      /https:\/\/factory\.example\/image\/[0-9a-f]{64}\/v1\.13\.9\/nocloud-amd64\.qcow2/,
    );
    expect(JSON.stringify(stack)).not.toContain("factory.talos.dev");
  });

  it("gives machines the mirrors, closes the way past them and makes room for the image cache", () => {
    expect(cluster(stack)?.registry_mirrors).toEqual({
      "*": ["https://mirror.example"],
      "registry.k8s.io": ["https://k8s.example"],
    });
    for (const machine of ["sample-cp-1", "sample-w-1"]) {
      const patches = machineOf(stack, machine).patches?.join("---\n") ?? "";
      expect(patches.match(/skipFallback: true/g)).toHaveLength(2);
      expect(patches).toContain("name: IMAGECACHE");
    }
  });
});

describe("an encrypted disk whose passphrase is in a file", () => {
  const environment = (infrastructure: string) => `
cluster:
  diskEncryption: { state: [{ tpm: {} }, { static: { file: secrets/disk.key.age } }] }
  patchFiles: [secrets/registry.sops.yaml]
infrastructure: ${infrastructure}
controlPlane: {}
`;
  const files = ["secrets/registry.sops.yaml", "secrets/disk.key.age#STATE/1"];

  it.each([
    "{ kind: simulated }",
    "{ kind: container, engine: docker, trustOnFirstUse: true }",
    "{ kind: metal, machines: { a: { address: 10.0.0.1, role: controlplane, disk: /dev/sda } }, trustOnFirstUse: true }",
  ])("reaches every machine of %s by the file's name", (infrastructure) => {
    const machines = Object.values(machinesOf(stackOf(environment(infrastructure))));
    expect(machines).not.toEqual([]);
    for (const machine of machines) expect(machine).toMatchObject({ patch_files: files });
  });

  it("is in the first config, too, where that is in a seed or in user-data", () => {
    const libvirt = stackOf(environment("{ kind: libvirt, machineConfig: user-data }"));
    const seed = instance(libvirt, 'talosmith_cloud_init.control_plane_seed["cp-1"]');
    expect(seed.machine_config).toMatchObject({ patch_files: files });
    const aws = stackOf(environment("{ kind: aws, region: eu-west-1, adminCidrs: [203.0.113.0/24] }"));
    const configs = Object.values(aws.data?.talosmith_machine_config ?? {});
    expect(configs).not.toEqual([]);
    for (const config of configs) expect(config).toMatchObject({ patch_files: files });
  });
});

describe("pools of two architectures on one libvirt host", () => {
  const environment = (more: string, pool = "architecture: arm64") => `
infrastructure: { kind: libvirt, trustOnFirstUse: true${more} }
controlPlane: {}
workers: [{ name: w, count: 1 }, { name: arm, count: 1, addressOffset: 120, ${pool} }]
`;

  it("have each its image, board and firmware", () => {
    const { resource } = stackOf(environment(", domainType: qemu"));
    expect(resource.libvirt_domain?.worker?.os).toMatchObject({ type_arch: "x86_64", type_machine: "q35" });
    expect(resource.libvirt_domain?.arm?.os).toMatchObject({
      type_arch: "aarch64",
      type_machine: "virt",
      loader: "/usr/share/AAVMF/AAVMF_CODE.fd",
      nv_ram: { template: "/usr/share/AAVMF/AAVMF_VARS.fd" },
    });
    expect(resource.libvirt_domain?.arm?.devices).toMatchObject({
      controllers: [{ type: "scsi", model: "virtio-scsi" }],
      disks: [{}, { device: "cdrom", target: { bus: "scsi" } }],
    });
    const images = (id: string) => JSON.stringify(resource.libvirt_volume?.[id]?.create);
    expect(images("image")).toContain("nocloud-amd64.qcow2");
    expect(images("arm_image")).toContain("nocloud-arm64.qcow2");
  });

  it.each([
    ["KVM runs only the host's own", "", "architecture: arm64", /KVM runs no other/],
    ["arm64 has no BIOS", ", domainType: qemu, firmware: bios", "architecture: arm64", /arm64 has no BIOS/],
    [
      "one pair of firmware files serves one of them",
      ", domainType: qemu, firmware: { loader: /a, nvramTemplate: /b }",
      "architecture: arm64",
      /one pair of files for two architectures/,
    ],
  ])("are refused where %s", (_, more, pool, message) => {
    expect(() => stackOf(environment(more, pool))).toThrow(message);
  });

  it("may all be arm64", () => {
    const { resource } = stackOf(environment(", architecture: arm64"));
    for (const domain of Object.values(resource.libvirt_domain ?? {}))
      expect(domain.os).toMatchObject({ type_arch: "aarch64" });
    expect(JSON.stringify(resource.libvirt_volume?.image?.create)).toContain("nocloud-arm64.qcow2");
  });
});

it("KubeSpan and the firewall reach the cluster and its machines", () => {
  const stack = stackOf(`
cluster: { kubespan: true, firewall: { nodes: [10.0.0.0/24] } }
infrastructure: { kind: libvirt, trustOnFirstUse: true }
controlPlane: {}
`);
  expect(cluster(stack)?.kubespan).toBe(true);
  const patches = (name: string) => machineOf(stack, name).patches?.join("---\n") ?? "";
  expect(patches("sample-cp-1")).toContain("name: etcd");
  expect(patches("sample-w-1")).toContain("name: kubespan");
  expect(patches("sample-w-1")).not.toContain("name: etcd");
});

it("workers that join another environment's control plane keep its settings", () => {
  const stack = stackOf(
    `
cluster: {}
infrastructure: { kind: libvirt, trustOnFirstUse: true, network: { workerOffset: 120 } }
controlPlaneRef: { environment: main }
workers: [{ count: 1 }]
`,
    {
      "main.yaml": `
cluster: { diskEncryption: { state: [{ tpm: {} }, { static: { file: secrets/disk.key } }] }, firewall: { nodes: [10.0.0.0/24] } }
infrastructure: { kind: libvirt, trustOnFirstUse: true }
controlPlane: {}
`,
    },
  );
  const [machine] = Object.values(machinesOf(stack));
  expect(machine?.patches?.join("---\n")).toMatch(/kind: VolumeConfig[\s\S]*kind: NetworkDefaultActionConfig/);
  expect(machine?.patch_files).toEqual(["secrets/disk.key#STATE/1"]);
});

describe("deletion protection", () => {
  const sections = {
    simulated: "kind: simulated",
    libvirt: "kind: libvirt, trustOnFirstUse: true",
    aws: "kind: aws, region: eu-central-1, adminCidrs: [203.0.113.7/32]",
    metal:
      "kind: metal, trustOnFirstUse: true, machines: { cp-1: { address: 10.0.0.1, role: controlplane }, w-1: { address: 10.0.0.2, role: worker } }",
    container: "kind: container, engine: docker, trustOnFirstUse: true",
  };

  it.each(Object.entries(sections))("of %s protects the cluster and each of its machines", (kind, section) => {
    const counts = kind === "metal" ? "workers: [{}]" : "controlPlane: {}\nworkers: [{ count: 1 }]";
    const ends = (protection: boolean) => {
      const stack = stackOf(`infrastructure: { ${section}, deletionProtection: ${protection} }\n${counts}\n`);
      const members = [...instancesOf(stack)].filter(([address]) => address.startsWith("talosmith_member."));
      expect(members).toHaveLength(2);
      return [cluster(stack)?.on_destroy, ...members.map(([, member]) => member.on_destroy)];
    };
    expect(ends(true)).toEqual(["prevent", "prevent", "prevent"]);
    expect(ends(false)).toEqual([undefined, undefined, undefined]);
  });
});
