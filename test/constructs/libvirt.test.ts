// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "cdktn";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashNoCloudIso, type NoCloudFiles } from "../../cloud-init/index.ts";
import {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  TalosCluster,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { instance, instancesOf, machineOf, type StackJson, stackOf } from "./project.ts";

let folder: string;
let stack: TalosStack;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-libvirt-"));
  stack = new TalosStack(new App({ outdir: folder, stackTraces: false }), "test");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function cluster(props: LibvirtInfrastructureProps = {}, count = 1) {
  const trust = props.machineConfig === undefined ? { trustOnFirstUse: true } : {};
  const infrastructure = new LibvirtInfrastructure(stack, "kvm", { ...trust, ...props });
  return new TalosCluster(stack, "Default", { name: "talos", infrastructure, controlPlane: { count } });
}
const json = () => stack.toTerraform() as StackJson;

describe("LibvirtInfrastructure", () => {
  it("needs no more than how machines are trusted: bridge br0, 10.0.0.0/24, BIOS, KVM, the pool default", () => {
    new WorkerPool(cluster(), "w", { count: 2 });
    const written = json();
    expect(written.provider.libvirt).toEqual([{ uri: "qemu:///system" }]);
    const domains = [...instancesOf(written).keys()].filter((address) => address.startsWith("libvirt_domain."));
    expect(domains).toEqual([
      'libvirt_domain.control_plane["cp-1"]',
      'libvirt_domain.worker["w-1"]',
      'libvirt_domain.worker["w-2"]',
    ]);
    expect(instance(written, 'libvirt_domain.worker["w-2"]')).toMatchObject({
      name: "talos-w-2",
      type: "kvm",
      vcpu: 2,
      memory: 4096,
      memory_unit: "MiB",
    });
    expect(instance(written, 'libvirt_volume.worker_disk["w-2"]')).toMatchObject({
      name: "talos-w-2.qcow2",
      pool: "default",
      capacity: 20 * 2 ** 30,
    });
  });

  it.each([
    [
      "a worker where a control plane is",
      () => new WorkerPool(cluster({}, 3), "w", { count: 1, addressOffset: 71 }),
      /10\.0\.0\.71 would be talos-w-1's and talos-cp-2's/,
    ],
    [
      "two pools at one place",
      () => {
        const made = cluster();
        new WorkerPool(made, "a", { count: 2 });
        new WorkerPool(made, "b", { count: 1 });
      },
      /10\.0\.0\.80 would be talos-b-1's and talos-a-1's/,
    ],
    [
      "a VIP that is the gateway",
      () => cluster({ network: { vip: "10.0.0.1" } }),
      /10\.0\.0\.1 would be the VIP's and the gateway's/,
    ],
    [
      "more machines than the network has hosts",
      () => new WorkerPool(cluster(), "w", { count: 200 }),
      /talos-w-176 would be at place 255 of 10\.0\.0\.0\/24/,
    ],
    [
      "a network that is none",
      () => cluster({ network: { cidr: "10.0.0.1/24" } }),
      /network\.cidr is "10\.0\.0\.1\/24"; expected an IPv4 network/,
    ],
    [
      "a template that Talos cannot read",
      () => cluster({ cloudInit: { networkConfig: "version: 7\n" } }),
      /found version 7/,
    ],
  ])("refuses %s", (_, create, message) => {
    expect(create).toThrow(message);
  });

  it("puts the endpoint on the VIP, names it in the certificates, and lets the control planes elect its holder", () => {
    const made = cluster({ network: { vip: "10.0.0.100" } }, 3);
    new WorkerPool(made, "w", { count: 1 });
    const stackJson = json();
    expect(stackJson.resource.talosmith_cluster?.cluster).toMatchObject({
      endpoint: "https://10.0.0.100:6443",
      additional_sans: ["10.0.0.100"],
    });
    expect(machineOf(stackJson, "talos-cp-2").patches).toEqual([
      "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: 52:54:00:c1:00:02\n        vip:\n          ip: 10.0.0.100\n",
    ]);
    expect(machineOf(stackJson, "talos-w-1").patches).toBeUndefined();
  });

  it("names firmware files for UEFI, because the short form does not survive an apply", () => {
    cluster({ firmware: "uefi" });
    expect(instance(json(), 'libvirt_domain.control_plane["cp-1"]').os).toMatchObject({
      loader: "/usr/share/OVMF/OVMF_CODE_4M.fd",
      loader_type: "pflash",
      loader_readonly: "yes",
      nv_ram: { nv_ram: "/var/lib/libvirt/qemu/nvram/talos-cp-1_VARS.fd", template: "/usr/share/OVMF/OVMF_VARS_4M.fd" },
    });
  });

  it("takes a processor that Talos runs on, emulated or not", () => {
    cluster({ domainType: "qemu" });
    expect(instance(json(), 'libvirt_domain.control_plane["cp-1"]')).toMatchObject({
      type: "qemu",
      cpu: { mode: "maximum" },
    });
  });
});

describe("the seed of a machine", () => {
  const stackWithWorker = stackOf(
    "infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: {}\nworkers: [{ count: 2 }]\n",
  );

  it("has its content's hash in the volume's name, so that another content is another volume", () => {
    for (const [pool, key] of Object.entries({ control_plane: "cp-1", worker: "w-2" })) {
      const seed = instance(stackWithWorker, `talosmith_cloud_init.${pool}_seed["${key}"]`);
      const files: NoCloudFiles = {
        "meta-data": String(seed.meta_data),
        "network-config": String(seed.network_config),
      };
      expect(files["meta-data"]).toContain(`sample-${key}`);
      const hash = hashNoCloudIso(files).slice(0, 12);
      const { name } = instance(stackWithWorker, `libvirt_volume.${pool}_iso["${key}"]`);
      expect(name).toBe(`sample-${key}-${hash}.iso`);
    }
  });

  it("holds neither a config nor a secret", () => {
    const seed = instance(stackWithWorker, 'talosmith_cloud_init.control_plane_seed["cp-1"]');
    expect(Object.keys(seed).sort()).toEqual(["meta_data", "network_config", "path"]);
  });

  it("brings the whole config if asked for, by what it follows from, and is not replaced when that changes", () => {
    const stack = (more: string) =>
      stackOf(`infrastructure: { kind: libvirt, network: { vip: 10.0.0.100 }, ${more} }
cluster: { patches: { all: [{ machine: { sysctls: { a: "1" } } }] } }
controlPlane: {}
`);
    const [without, written] = [stack("trustOnFirstUse: true"), stack("machineConfig: user-data")];
    const { resource } = written;
    expect(instance(written, 'talosmith_cloud_init.control_plane_seed["cp-1"]').machine_config).toMatchObject({
      name: "sample",
      role: "controlplane",
      hostname: "sample-cp-1",
      endpoint: "https://10.0.0.100:6443",
      patches: [expect.stringContaining("sysctls"), expect.stringContaining("10.0.0.100")],
    });
    expect(resource.talosmith_cluster?.cluster).not.toHaveProperty("trust_on_first_use");
    expect(JSON.stringify(resource)).not.toContain("include_secrets");
    // Without it a machine that was removed would boot from its seed and join again.
    for (const marked of [resource.talosmith_cluster?.cluster, resource.talosmith_member?.control_plane])
      expect(marked).toHaveProperty("config_source", "user-data");
    expect(JSON.stringify(without)).not.toContain("config_source");
    // A new disk boots from the seed again: that must hold the secrets of now, not those from before a rotate-ca.
    const { lifecycle, ...iso } = resource.libvirt_volume?.control_plane_iso ?? {};
    expect(iso).toEqual({ ...without.resource.libvirt_volume?.control_plane_iso, lifecycle: undefined });
    expect(lifecycle).toEqual({
      ignore_changes: ["create", "target"],
      replace_triggered_by: ["libvirt_volume.control_plane_disk[each.key]"],
    });
  });

  it.each([
    ["nothing", {}, /no choice.*trustOnFirstUse: true.*machineConfig: user-data/],
    ["both", { trustOnFirstUse: true, machineConfig: "user-data" }, /one of/],
  ] as const)("needs a choice of how machines get their initial config: %s", (_, props, message) => {
    expect(() => new LibvirtInfrastructure(stack, "kvm", props)).toThrow(message);
  });

  it("leaves its format to libvirt, which tells another one while the volumes of a pool are made", () => {
    expect(instance(stackWithWorker, 'libvirt_volume.worker_iso["w-2"]')).not.toHaveProperty("target");
  });

  it("is written inside the project, nowhere near /tmp", () => {
    const seed = instance(stackWithWorker, 'talosmith_cloud_init.worker_seed["w-2"]');
    expect(seed.path).toBe("generated/sample/cloud-init/sample-w-2.iso");
    expect(instance(stackWithWorker, 'libvirt_volume.worker_iso["w-2"]').create).toEqual({
      content: { url: "../../../generated/sample/cloud-init/sample-w-2.iso" },
    });
  });
});

describe("the base image", () => {
  const image = (more: string) =>
    stackOf(
      `infrastructure: { kind: libvirt, trustOnFirstUse: true${more} }\ncluster: { schematic: { extensions: [siderolabs/qemu-guest-agent] } }\ncontrolPlane: {}\n`,
    ).resource.libvirt_volume?.image;

  it.each([
    [
      "",
      "https://factory.talos.dev/image/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515/v1.13.9/nocloud-amd64.qcow2",
      "qcow2",
    ],
    [", image: images/talos.raw", "../../../images/talos.raw", "raw"],
    [", image: /srv/talos.qcow2", "/srv/talos.qcow2", "qcow2"],
    [", image: 'https://example.com/talos.qcow2'", "https://example.com/talos.qcow2", "qcow2"],
  ])("comes from the factory, a path or a URL: %j", (more, url, format) => {
    expect(image(more)).toMatchObject({ create: { content: { url } }, target: { format: { type: format } } });
  });
});
