// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "cdktn";
import { Construct } from "constructs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ConstructInputError,
  LibvirtInfrastructure,
  MetalInfrastructure,
  SimulatedInfrastructure,
  TalosCluster,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { instancesOf, machineOf } from "./project.ts";

let folder: string;
let stack: TalosStack;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-stack-"));
  stack = new TalosStack(new App({ outdir: folder, stackTraces: false }), "test");
  infrastructure = new SimulatedInfrastructure(stack, "simulator");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

let infrastructure: SimulatedInfrastructure;
const controlPlane = { count: 1 };

interface Json {
  readonly resource: Record<string, Record<string, Record<string, unknown>>>;
  readonly provider: Record<string, unknown[]>;
}
const json = () => stack.toTerraform() as Json;
const simulatedMachines = () =>
  [...instancesOf(json()).keys()].filter((address) => address.startsWith("talosmith_simulated_machine."));

describe("TalosStack", () => {
  it("gives addresses without hashes, from the construct path", () => {
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane });
    new WorkerPool(cluster, "gpu-large", { count: 1 });
    expect(simulatedMachines()).toEqual([
      'talosmith_simulated_machine.control_plane["cp-1"]',
      'talosmith_simulated_machine.gpu_large["gpu-large-1"]',
    ]);
  });

  it("refuses two resources with the same address and names both", () => {
    new TalosCluster(new Construct(stack, "a-b"), "c", { name: "one", infrastructure, controlPlane });
    const second = () =>
      new TalosCluster(new Construct(stack, "a"), "b-c", { name: "two", infrastructure, controlPlane });
    expect(second).toThrow(/^test\/a\/b-c\/.*taken by test\/a-b\/c\//);
  });
});

describe("TalosCluster", () => {
  it.each(["cluster", "client", "talosmith"])("has a pool that is called %s, as something of its own is", (name) => {
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane });
    new WorkerPool(cluster, name, { count: 1 });
    expect(simulatedMachines().sort()).toEqual(
      ['talosmith_simulated_machine.control_plane["cp-1"]', `talosmith_simulated_machine.${name}["${name}-1"]`].sort(),
    );
    expect(Object.keys(json().resource.talosmith_cluster ?? {})).toEqual(["cluster"]);
  });

  it("puts two clusters with secrets of their own into one stack", () => {
    new TalosCluster(stack, "one", { name: "one", infrastructure, controlPlane });
    new TalosCluster(stack, "two", { name: "two", infrastructure, controlPlane });
    const { provider, resource } = json();
    expect(provider.talosmith).toEqual([
      { secrets_file: "secrets/one.yaml" },
      { alias: "two", secrets_file: "secrets/two.yaml" },
    ]);
    expect(resource.talosmith_cluster?.two_cluster?.provider).toBe("talosmith.two");
    expect(resource.talosmith_cluster?.one_cluster?.provider).toBeUndefined();
  });

  it("makes the configs in a cluster's seeds with that cluster's secrets", () => {
    const shared = new LibvirtInfrastructure(stack, "kvm", { machineConfig: "user-data" });
    new TalosCluster(stack, "one", { name: "one", infrastructure: shared, controlPlane });
    const further = { ...controlPlane, addressOffset: 90 };
    new TalosCluster(stack, "two", { name: "two", infrastructure: shared, controlPlane: further });
    const { talosmith_cloud_init: seeds } = json().resource;
    expect(seeds?.one_control_plane_seed?.provider).toBeUndefined();
    expect(seeds?.two_control_plane_seed?.provider).toBe("talosmith.two");
  });

  it("writes an IPv6 address into its endpoint as URLs want it", () => {
    const metal = new MetalInfrastructure(stack, "metal", {
      trustOnFirstUse: true,
      machines: { "lab-cp-1": { address: "fd00::1" } },
    });
    const { endpoint } = new TalosCluster(stack, "Default", { name: "lab", infrastructure: metal, controlPlane });
    expect(endpoint).toBe("https://[fd00::1]:6443");
  });

  it("warns of a Talos release that is newer than all that is known, and takes it", () => {
    const cluster = new TalosCluster(stack, "Default", {
      name: "lab",
      infrastructure,
      controlPlane,
      talosVersion: "v1.15.0",
    });
    expect(cluster.talosVersion).toBe("v1.15.0");
    expect(cluster.node.metadata).toMatchObject([{ data: expect.stringContaining("written for the contract v1.14") }]);
  });

  it("takes patches and pools until the stack is written", () => {
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane });
    const pool = new WorkerPool(cluster, "w", { count: 1, patches: ["machine: {}\n"] });
    pool.addPatch("cluster: {}\n");
    expect(machineOf(json(), "lab-w-1").patches).toEqual(["machine: {}\n", "cluster: {}\n"]);
    expect(machineOf(json(), "lab-cp-1").patches).toBeUndefined();
  });

  it.each([
    ["name", { name: "Lab" }, /name is "Lab"; expected a name of at most 40 lower-case/],
    [
      "Talos version",
      { talosVersion: "v3.0.0" },
      /talosVersion is "v3.0.0"; expected an exact Talos version from 1.9 on/,
    ],
    ["Talos minor release", { talosVersion: "1.14" }, /talosVersion is "1.14"; expected an exact .* such as v1.14.1/],
    [
      "Kubernetes version",
      { kubernetesVersion: "1.20.0" },
      /kubernetesVersion: found 1.20.0; expected a Kubernetes version that Talos v1.13.9 runs/,
    ],
    ["endpoint", { endpoint: "k8s:6443" }, /endpoint is "k8s:6443"; expected a URL/],
    ["path", { secretsFile: "../secrets.yaml" }, /leaves the project/],
    ["negative count", { controlPlane: { count: -1 } }, /count is -1; expected a whole number/],
  ])("refuses a wrong %s with the construct's path", (_, props, message) => {
    let error: unknown;
    try {
      new TalosCluster(stack, "bad", { name: "lab", infrastructure, controlPlane, ...props });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ConstructInputError);
    expect((error as Error).message).toMatch(message);
    expect((error as ConstructInputError).path).toMatch(/^test\/bad/);
  });

  it("reports everything that is wrong with its props at once", () => {
    const create = () => new TalosCluster(stack, "bad", { name: "X", endpoint: "y", infrastructure, controlPlane });
    expect(create).toThrow(/name is "X".*endpoint is "y"/s);
  });

  it("refuses a worker pool with the control planes' name", () => {
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane });
    expect(() => new WorkerPool(cluster, "cp", { count: 1 })).toThrow();
  });
});
