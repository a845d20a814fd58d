// SPDX-License-Identifier: Apache-2.0
// Machines that an auto scaling group starts: in no list, found by the label of their nodes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ClusterSpec,
  desiredCluster,
  findPoolMachines,
  type KubernetesNode,
  poolMachinesAmong,
  talosMachines,
  withPoolMachines,
} from "../../engine/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

describe("nodes are machines of a scaling pool", () => {
  const node = (name: string, more: Partial<KubernetesNode> = {}): KubernetesNode => ({
    ...{ name, ready: true, unschedulable: false, cordonedByUs: false, controlPlane: false, kubeletVersion: "v1.36.3" },
    ...{ addresses: ["10.0.0.9"], scalingPool: "burst" },
    ...more,
  });
  const spec = {
    machines: [
      { name: "cp-1", role: "controlplane", address: "10.0.0.1" },
      { name: "w-1", role: "worker", address: "10.0.0.2" },
    ],
    scalingPools: { burst: {} },
  } as const;
  const { scalingPool: _, ...unlabeled } = node("i-1");

  test.each<readonly [string, readonly KubernetesNode[], readonly string[]]>([
    ["with the pool's label", [node("i-1"), node("i-2", { addresses: ["10.0.0.8"] })], ["i-1", "i-2"]],
    ["without a label: no", [unlabeled], []],
    ["with the label of another pool: no", [node("i-1", { scalingPool: "other" })], []],
    ["that are listed: no", [node("w-1", { addresses: ["10.0.0.7"] })], []],
    ["that are control planes: no", [node("i-1", { controlPlane: true })], []],
    ["without an address: no", [node("i-1", { addresses: [] })], []],
    ["with the address of a listed machine: no", [node("i-1", { addresses: ["10.0.0.9", "10.0.0.1"] })], []],
    ["with the address of another node: no", [node("i-1"), node("cp-x", { controlPlane: true })], []],
    ["not ready, perhaps terminated: no", [node("i-1", { ready: false })], []],
    ["not ready since an interrupted run", [node("i-1", { ready: false, cordonedByUs: true })], ["i-1"]],
  ])("%s", (_, nodes, names) => {
    expect(poolMachinesAmong(spec, nodes).map(({ name }) => name)).toEqual(names);
  });
});

describe("on machines", () => {
  let lab: SimulatedLab;
  const secrets = testSecrets();
  const pool = { patches: ["machine:\n  nodeLabels:\n    talosmith.internal/pool: burst\n"] };
  beforeAll(async () => {
    lab = await simulatedLab("scaled");
    await lab.create("cp-1");
    await lab.create("i-1", "v1.13.8");
  });
  afterAll(() => lab.end());

  async function spec(talos: string, more: Partial<ClusterSpec> = {}): Promise<ClusterSpec> {
    const machines = await lab.machines(["cp-1"]);
    return {
      name: "scaled",
      endpoint: `https://${machines[0]?.address}:6443`,
      talosVersion: TalosVersion.parse(talos),
      contract: Contract.parse("v1.13"),
      kubernetesVersion: "1.36.3",
      machines,
      scalingPools: { burst: pool },
      ...more,
    };
  }
  const found = async (wanted: ClusterSpec) => (await findPoolMachines(wanted, secrets)).machines;
  const apply = async (wanted: ClusterSpec) => {
    const desired = desiredCluster(withPoolMachines(wanted, await found(wanted)), secrets);
    return (await lab.apply(desired)).steps.map(({ id }) => id);
  };

  test("before there is a cluster, none is found and the reason is told", async () => {
    expect(await findPoolMachines(await spec("v1.13.9"), secrets)).toMatchObject({
      machines: [],
      problem: expect.any(String),
    });
  });

  test("they join by user-data, are upgraded, drained and changed as listed machines are, and run what they start with", async () => {
    const older = await spec("v1.13.8");
    await apply(await spec("v1.13.9"));
    const [machine] = (await lab.simulator.listMachines()).filter(({ name }) => name === "i-1");
    const { id = "", address = "" } = machine ?? {};
    const template = desiredCluster(withPoolMachines(older, [{ name: "any", address, scalingPool: "burst" }]), secrets);
    await lab.simulator.setPower(id, false);
    await lab.simulator.setUserData(id, template.machines.find(({ name }) => name === "any")?.config.text);
    await lab.simulator.setPower(id, true);
    const burst = [{ name: "i-1", address, scalingPool: "burst" }];
    await expect.poll(() => found(older), { timeout: 30_000 }).toEqual(burst);

    const upgraded = await apply(await spec("v1.13.9"));
    expect(upgraded).toEqual(expect.arrayContaining(["drain/i-1", "upgrade-talos/i-1", "uncordon/i-1"]));
    expect(await apply(await spec("v1.13.9"))).toEqual([]);

    const sysctls = "machine:\n  sysctls:\n    vm.nr_hugepages: '1'\n";
    const changed = await spec("v1.13.9", { scalingPools: { burst: { patches: [...pool.patches, sysctls] } } });
    expect(await apply(changed)).toContain("apply-config/i-1");
    expect(await apply(changed)).toEqual([]);
  });

  test("they are reached through the control planes alone", async () => {
    const wanted = await spec("v1.13.9");
    const [machine] = withPoolMachines(wanted, await found(wanted)).machines.filter(({ scalingPool }) => scalingPool);
    const elsewhere = {
      ...wanted,
      machines: [{ name: "cp-1", role: "controlplane", address: "127.0.0.1:9" }],
    } as const;
    const kindFrom = async (desired: ClusterSpec) => {
      const machines = talosMachines({ desired, secrets });
      const state = await machines.inspect(machine ?? elsewhere.machines[0]);
      machines.close();
      return state.kind;
    };
    expect(await kindFrom(wanted)).toBe("configured");
    expect(await kindFrom(elsewhere)).toBe("unreachable");
  });
});
