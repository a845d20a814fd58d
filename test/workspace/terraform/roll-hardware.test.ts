// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { Board } from "../../../cli/output/board.ts";
import { defaultPolicy } from "../../../engine/policy.ts";
import type { HardwareChange } from "../../../review/index.ts";
import { systemClock } from "../../../talos/clock.ts";
import type { ProgressListener } from "../../../workspace/planned-change.ts";
import { rollHardware } from "../../../workspace/terraform/roll-hardware.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { type Lab, lab, testSecrets, wish } from "../../engine/fixture.ts";

async function running(): Promise<Lab> {
  const made = lab(wish());
  await made.apply(wish());
  made.world.log.length = 0;
  return made;
}

const target = (name: string): HardwareChange => ({
  name,
  controlPlane: name.startsWith("cp"),
  addresses: [`libvirt_domain.x["${name}"]`],
});

interface RollTest {
  readonly kind?: string;
  readonly limit?: number;
  /** The workers are another environment's, and join this cluster. */
  readonly joins?: boolean;
  /** Throws where the run is to be killed. */
  readonly dies?: (at: string) => void;
  readonly events?: ProgressListener;
}

/** Changes machines as terraform would. */
async function roll(
  { world, timing }: Lab,
  names: readonly string[],
  done: Set<string>,
  { kind = "libvirt", limit = 1, joins = false, dies = () => {}, events = () => {} }: RollTest = {},
) {
  const desired = wish(joins ? { workers: [] } : {});
  const policy = { ...defaultPolicy, maxUnavailable: limit };
  const optionsFor = (cluster: object) => ({ ...cluster, policy, machines: world.port(), timing });
  const cluster = {
    engineOptions: async () => optionsFor({ desired, secrets: testSecrets() }),
    engineOptionsFor: optionsFor,
    deployed: async () => ({ desired, secrets: testSecrets() }),
    claim: undefined,
    environment: { kind },
    context: { clock: systemClock },
  };
  const context = { clock: systemClock };
  const worker = { policy, environment: { kind }, joined: cluster, context };
  const workspace = (joins ? worker : cluster) as unknown as Workspace;
  const members = wish().machines.filter(({ role }) => role === "worker");
  const instances = members.map(({ name, address }) => ({ attributes: { name, address } }));
  await rollHardware(
    { changes: names.filter((name) => !done.has(name)).map(target), limit },
    {
      workspace,
      coming: 0,
      events,
      state: async () => JSON.stringify({ resources: joins ? [{ type: "talosmith_member", instances }] : [] }),
      change: async (addresses, before) => {
        dies(`before ${addresses}`);
        await before();
        dies(`drained ${addresses}`);
        for (const name of addresses.map((address) => /"(.*)"/.exec(address)?.[1] ?? "")) {
          const machine = world.machines.get(name);
          if (machine === undefined) throw new Error(name);
          world.log.push(`change ${name}`);
          world.goDown(machine, world.durations.boot);
          done.add(name);
        }
        dies(`changed ${addresses}`);
      },
    },
  );
}

/** The counter after each step of a roll: all have the same total, and the last is full. */
function counters() {
  const board = new Board("", 0);
  const found: string[] = [];
  const events: ProgressListener = (event) => {
    board.note(event, 0);
    if (event.type === "step-finished") found.push(board.counter);
  };
  return { found, events };
}
const upTo = (total: number) => Array.from({ length: total }, (_, index) => `${index + 1}/${total}`);

const deeds = ({ world }: Lab) => [...new Set(world.log)];
const inService = ({ world }: Lab) => world.nodes().every(({ ready, unschedulable }) => ready && !unschedulable);

describe("a change of hardware", () => {
  test("drains, shuts down, changes and brings back one libvirt machine after the other", async () => {
    const made = await running();
    await roll(made, ["w-1", "w-2"], new Set());
    expect(deeds(made)).toEqual(
      ["w-1", "w-2"].flatMap((name) => [`drain ${name}`, `shutdown ${name}`, `change ${name}`, `uncordon ${name}`]),
    );
    expect(inService(made)).toBe(true);
    expect(made.world.violations).toEqual([]);
  });

  test("counts its steps from the start", async () => {
    const made = await running();
    const first = counters();
    await roll(made, ["w-1", "cp-1", "w-2"], new Set(), { events: first.events });
    // drain, shut down, wait to boot, wait for etcd on the control plane, wait for the node, uncordon
    expect(first.found).toEqual(upTo(5 + 6 + 5));
    const done = new Set<string>();
    const dies = (at: string) => {
      if (at.startsWith("changed ")) throw new Error("killed");
    };
    await expect(roll(made, ["w-1", "w-2"], done, { dies })).rejects.toThrow("killed");
    const again = counters();
    await roll(made, ["w-1", "w-2"], done, { events: again.events });
    expect(again.found).toEqual(upTo(3 + 5));
  });

  test("lets EC2 shut machines down itself", async () => {
    const made = await running();
    await roll(made, ["w-1"], new Set(), { kind: "aws" });
    expect(deeds(made)).toEqual(["drain w-1", "change w-1", "uncordon w-1"]);
  });

  test("takes control planes one by one, and etcd never loses its majority", async () => {
    const made = await running();
    const planes = [...made.world.machines.keys()].filter((name) => name.startsWith("cp"));
    await roll(made, planes, new Set());
    expect(made.world.violations).toEqual([]);
    expect(inService(made)).toBe(true);
  });

  test("leaves the control plane that answers for the shared address for last, as an upgrade does", async () => {
    const made = await running();
    made.world.sharedAddresses.set("cp-1", "10.0.0.5");
    await roll(made, ["cp-1", "cp-2", "cp-3"], new Set());
    expect(deeds(made).filter((line) => line.startsWith("change "))).toEqual([
      "change cp-2",
      "change cp-3",
      "change cp-1",
    ]);
  });

  test.each(["before", "drained", "changed"])("that was killed %s a machine was changed goes on", async (when) => {
    const made = await running();
    const done = new Set<string>();
    const dies = (at: string) => {
      if (at.startsWith(`${when} `) && at.includes("w-1")) throw new Error("killed");
    };
    await expect(roll(made, ["w-1", "w-2"], done, { dies })).rejects.toThrow("killed");
    await roll(made, ["w-1", "w-2"], done);
    expect([...done].sort()).toEqual(["w-1", "w-2"]);
    expect(made.world.log.filter((line) => line === "change w-1")).toHaveLength(1);
    expect(inService(made)).toBe(true);
    expect(made.world.violations).toEqual([]);
  });

  test("takes workers that join another environment's cluster the same way", async () => {
    const made = await running();
    await roll(made, ["w-1", "w-2"], new Set(), { joins: true });
    expect(deeds(made)).toEqual(
      ["w-1", "w-2"].flatMap((name) => [`drain ${name}`, `shutdown ${name}`, `change ${name}`, `uncordon ${name}`]),
    );
    expect(inService(made)).toBe(true);
  });

  test("leaves the cordon of a person alone", async () => {
    const made = await running();
    await made.world.port().kubernetes.setSchedulable("w-1", false);
    await roll(made, ["w-1"], new Set());
    expect(made.world.nodes().find(({ name }) => name === "w-1")).toMatchObject({
      unschedulable: true,
      cordonedByUs: false,
    });
  });
});
