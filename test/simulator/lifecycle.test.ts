// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "vitest";
import { criticalPath, type Machine } from "../../simulator/index.ts";
import type { Event } from "../../talos/api/gen/machine/events.ts";
import { EventsRequest, MachineStatusEvent, PhaseEvent, SequenceEvent } from "../../talos/api/gen/machine/events.ts";
import { ImageServiceService } from "../../talos/api/gen/machine/image.ts";
import { LifecycleServiceService } from "../../talos/api/gen/machine/lifecycle.ts";
import { MachineServiceService as Api, ResetRequest, UpgradeRequest } from "../../talos/api/gen/machine/machine.ts";
import { collect, configFor } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const image = (release: string): string => `ghcr.io/siderolabs/installer:${release}`;

let lab: VirtualLaboratory;
let machines: Machine[];
let worker: Machine;
beforeEach(async () => {
  lab = new VirtualLaboratory();
  machines = await lab.cluster(3, 1);
  worker = machines[3] as Machine;
});

/** Runs a stream to its end while time passes. */
async function during<T>(stream: AsyncIterable<unknown>): Promise<T[]> {
  const [items] = await Promise.all([collect<T>(stream), lab.clock.advance(2_000)]);
  return items;
}

async function upgrade(machine: Machine, release: string): Promise<unknown[]> {
  const source = { imageName: image(release) };
  await during(lab.stream(machine, ImageServiceService.pull, [{ containerd: undefined, imageRef: image(release) }]));
  return during(lab.stream(machine, LifecycleServiceService.upgrade, [{ containerd: undefined, source }]));
}

describe("an upgrade", () => {
  it("of the old kind changes the version through a reboot and keeps config and etcd", async () => {
    const [first] = machines as [Machine];
    const reply = await lab.call(first, Api.upgrade, UpgradeRequest.fromPartial({ image: image("v1.13.10") }));
    expect(reply.messages[0]).toMatchObject({ ack: "Upgrade request received" });
    await lab.clock.advance(10_000);
    expect(lab.now(first.id)).toMatchObject({ talosVersion: "v1.13.10", life: { stage: "running" } });
    expect(lab.now(first.id).disk.etcd).toEqual(first.disk.etcd);
  });

  it("of the old kind refuses two members, and a member that is down", async () => {
    const [one, two, three] = machines as [Machine, Machine, Machine];
    lab.simulator.setPower(two.id, false);
    await lab.clock.advance(3_000);
    const request = UpgradeRequest.fromPartial({ image: image("v1.13.10") });
    await expect(lab.call(one, Api.upgrade, request)).rejects.toThrow(/is not healthy/);
    lab.simulator.setPower(two.id, true);
    await lab.clock.advance(5_000);
    await lab.call(three, Api.etcdLeaveCluster, {});
    await expect(lab.call(one, Api.upgrade, request)).rejects.toThrow(/member count\(2\) is insufficient/);
  });

  it("of the new kind needs the image first, installs beside the running system and leaves the reboot to the client", async () => {
    const source = { imageName: image("v1.13.10") };
    const early = during(lab.stream(worker, LifecycleServiceService.upgrade, [{ containerd: undefined, source }]));
    await expect(early).rejects.toThrow(/image not found/);
    const progress = await upgrade(worker, "v1.13.10");
    expect(progress.at(-1)).toMatchObject({ progress: { response: { $case: "exitCode", value: 0 } } });
    expect(lab.now(worker.id).talosVersion).toBe("v1.13.9");
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(10_000);
    expect(lab.now(worker.id)).toMatchObject({ talosVersion: "v1.13.10", disk: { previous: "v1.13.9" } });
  });

  it("of a system that does not come up goes back to the previous one, as A/B boots do", async () => {
    lab.simulator.setFaults(worker.id, [{ kind: "bad-boot", times: 1 }]);
    await upgrade(worker, "v1.13.10");
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(10_000);
    expect(lab.now(worker.id)).toMatchObject({ talosVersion: "v1.13.9", life: { stage: "running" } });
  });

  it("can be rolled back by hand", async () => {
    await upgrade(worker, "v1.13.10");
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(10_000);
    await lab.call(lab.now(worker.id), Api.rollback, {});
    await lab.clock.advance(10_000);
    expect(lab.now(worker.id).talosVersion).toBe("v1.13.9");
  });

  it("of the new kind is not there on 1.12", async () => {
    await upgrade(worker, "v1.12.11");
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(10_000);
    const old = lab.now(worker.id);
    const pull = during(
      lab.stream(old, ImageServiceService.pull, [{ containerd: undefined, imageRef: image("v1.13.9") }]),
    );
    await expect(pull).rejects.toMatchObject({ status: "Unimplemented" });
  });
});

describe("going down", () => {
  it("tells that its services stop before it is gone, even on a computer too busy to be on time", async () => {
    lab.late = 500;
    const phases: string[] = [];
    const reading = (async () => {
      for await (const { data } of lab.stream(worker, Api.events, [EventsRequest.create()]))
        if (data?.typeUrl.endsWith("PhaseEvent")) phases.push(PhaseEvent.decode(data.value).phase);
    })();
    reading.catch(() => undefined);
    await lab.clock.advance(0);
    await lab.call(worker, Api.reset, ResetRequest.fromPartial({ reboot: true }));
    await lab.clock.advance(10_000);
    await expect(reading).rejects.toMatchObject({ status: "Unavailable" });
    // What talosctl waits for; without it, it waits for ever.
    expect(phases).toContain("stopServices");
  });

  it("is told in the event stream, which then breaks; the next boot has its own history", async () => {
    const stream = collect<Event>(lab.stream(worker, Api.events, [EventsRequest.create()]));
    stream.catch(() => undefined);
    const { messages } = await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(10_000);
    await expect(stream).rejects.toMatchObject({ status: "Unavailable" });
    const abort = new AbortController();
    const history: Event[] = [];
    const request = EventsRequest.fromPartial({ tailEvents: -1 });
    const reading = (async () => {
      for await (const event of lab.stream(lab.now(worker.id), Api.events, [request], { signal: abort.signal }))
        history.push(event);
    })();
    await lab.clock.advance(100);
    abort.abort();
    await reading;
    const decoded = history.map(({ data, actorId }) => ({
      type: data?.typeUrl.split(".").at(-1),
      value: data?.value ?? new Uint8Array(),
      actorId,
    }));
    const sequences = decoded
      .filter(({ type }) => type === "SequenceEvent")
      .map(({ value }) => SequenceEvent.decode(value).sequence);
    expect(sequences).toEqual(["initialize", "initialize", "boot", "boot"]);
    expect(decoded.some(({ actorId }) => actorId === messages[0]?.actorId)).toBe(false);
    const last = decoded.filter(({ type }) => type === "MachineStatusEvent").at(-1);
    expect(MachineStatusEvent.decode(last?.value ?? new Uint8Array())).toMatchObject({
      stage: 4,
      status: { ready: true },
    });
  });

  it("runs one sequence at a time", async () => {
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.call(worker, Api.reset, ResetRequest.fromPartial({ reboot: true }));
    await lab.clock.advance(10_000);
    expect(lab.now(worker.id).life.stage).toBe("running");
  });

  it("by shutdown stays down until somebody switches the machine on", async () => {
    await lab.call(worker, Api.shutdown, { force: false });
    await lab.clock.advance(3_600_000);
    expect(lab.now(worker.id).life.stage).toBe("off");
    await expect(lab.call(worker, Api.version, {})).rejects.toMatchObject({ status: "Unavailable" });
    lab.simulator.setPower(worker.id, true);
    await lab.clock.advance(5_000);
    expect(lab.ready()).toContain("w-1");
  });

  it("for ever is a fault", async () => {
    lab.simulator.setFaults(worker.id, [{ kind: "never-back" }]);
    await lab.call(worker, Api.reboot, { mode: 0 });
    await lab.clock.advance(3_600_000);
    expect(lab.now(worker.id).life.stage).toBe("off");
  });

  it.each(["before", "after"] as const)(
    "by a crash %s a call loses the answer, and its effect only when it came before",
    async (when) => {
      lab.simulator.setFaults(worker.id, [{ kind: "crash", method: "MetaWrite", when, times: 1 }]);
      const call = lab.call(worker, Api.metaWrite, { key: 10, value: Buffer.from("x") });
      await expect(call).rejects.toMatchObject({ status: "Unavailable" });
      expect(lab.now(worker.id).life.stage).toBe("off");
      expect(lab.now(worker.id).disk.meta).toEqual(when === "before" ? {} : { "0x0a": "x" });
    },
  );
});

describe("time", () => {
  it("from power-on to ready is well under two seconds, and hardly grows with workers", async () => {
    const configOf = ({ type, name }: { type: "controlplane" | "worker"; name: string }): string =>
      configFor(type, "10.0.0.2", name);
    const small = await criticalPath({ controlPlanes: 3, workers: 2, configOf });
    expect(small).toBeGreaterThan(500);
    expect(small).toBeLessThan(2_000);
    expect(await criticalPath({ controlPlanes: 3, workers: 20, configOf })).toBeLessThan(small * 1.2);
  });

  it("passes quickly when it is virtual: a day of four machines in seconds", async () => {
    const started = performance.now();
    await lab.clock.advance(24 * 3_600_000);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(lab.ready()).toHaveLength(4);
  });

  it("gives the same history for the same seed", async () => {
    const run = async (seed: string): Promise<string> => {
      const other = new VirtualLaboratory(seed);
      await other.cluster(3, 1);
      const { machines: found } = other.simulation.world;
      return JSON.stringify(Object.values(found).map(({ id, events, disk }) => [id, events, disk.etcd]));
    };
    expect(await run("a")).toBe(await run("a"));
    expect(await run("a")).not.toBe(await run("b"));
  });
});
