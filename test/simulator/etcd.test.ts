// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { snapshotStatus } from "../../engine/backup/index.ts";
import type { Machine } from "../../simulator/index.ts";
import type { Data } from "../../talos/api/gen/common/common.ts";
import { MachineServiceService as Api, BootstrapRequest, ResetRequest } from "../../talos/api/gen/machine/machine.ts";
import { NetstatRequest } from "../../talos/api/gen/machine/netstat.ts";
import { realSnapshot, rehashed } from "../support/etcd-snapshot.ts";
import { everything } from "../support/everything.ts";
import { collect, configFor } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

let lab: VirtualLaboratory;
beforeEach(() => {
  lab = new VirtualLaboratory();
});
afterEach(() => lab.simulation.close());

async function members(machine: Machine, queryLocal = false): Promise<string[]> {
  const call = lab.call(machine, Api.etcdMemberList, { queryLocal });
  const [reply] = await Promise.all([call, lab.clock.advance(6_000)]);
  return reply.messages[0]?.members.map((member) => member.hostname).sort() ?? [];
}

async function leaderOf(machine: Machine): Promise<bigint> {
  const { messages } = await lab.call(machine, Api.etcdStatus, {});
  return messages[0]?.memberStatus?.leader ?? 0n;
}

interface Status {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly lastHeartbeatTime?: string;
  }[];
  readonly containerStatuses?: readonly { readonly containerID: string }[];
}

describe("etcd", () => {
  it("waits on every control plane until one of them is bootstrapped", async () => {
    const machines = await lab.machines(["cp-1", "cp-2", "cp-3"]);
    for (const machine of machines) await lab.apply(machine, configFor("controlplane", "10.5.0.2", machine.name));
    await lab.clock.advance(3_600_000);
    for (const { id } of machines) {
      expect(lab.now(id).life.stage).toBe("booting");
      expect(lab.now(id).services.etcd?.stage).toBe("Preparing");
    }
  });

  it("takes the other control planes in as learners first, one at a time", async () => {
    const [first, ...others] = await lab.cluster(1);
    expect(others).toEqual([]);
    const joining = await lab.machines(["cp-2", "cp-3"]);
    for (const machine of joining) await lab.apply(machine, configFor("controlplane", "10.5.0.2", machine.name));
    let most = 0;
    lab.simulation.subscribe((world) => {
      for (const { etcd } of Object.values(world.clusters)) {
        most = Math.max(most, etcd?.members.filter((member) => member.learner).length ?? 0);
      }
    });
    await lab.clock.advance(10_000);
    expect(most).toBe(1);
    expect(await members(first as Machine)).toEqual(["cp-1", "cp-2", "cp-3"]);
  });

  it("elects another leader when the leader's machine loses power, and serves on", async () => {
    const [one, two] = (await lab.cluster(3)) as [Machine, Machine, Machine];
    const before = await leaderOf(two);
    lab.simulator.setPower(one.id, false);
    await lab.clock.advance(2_000);
    const after = await leaderOf(two);
    expect(after).not.toBe(before);
    expect(after).not.toBe(0n);
    expect(await members(two)).toHaveLength(3);
  });

  it("is unavailable without a quorum, knows its members locally, and recovers with the power", async () => {
    const [one, two, three] = (await lab.cluster(3)) as [Machine, Machine, Machine];
    lab.simulator.setPower(one.id, false);
    lab.simulator.setPower(two.id, false);
    await lab.clock.advance(5_000);
    await expect(members(three)).rejects.toMatchObject({ status: "Unavailable", message: "etcdserver: no leader" });
    expect(await members(three, true)).toHaveLength(3);
    expect(lab.ready()).toEqual([]);
    lab.simulator.setPower(two.id, true);
    await lab.clock.advance(10_000);
    expect(await members(three)).toHaveLength(3);
    expect(lab.ready()).toEqual(["cp-2", "cp-3"]);
  });

  it("refuses to lose a member that would cost the quorum", async () => {
    const [one, two] = (await lab.cluster(3)) as [Machine, Machine, Machine];
    lab.simulator.setPower(two.id, false);
    await lab.clock.advance(5_000);
    const leave = lab.call(one, Api.etcdLeaveCluster, {});
    await expect(leave).rejects.toMatchObject({
      message: "etcdserver: re-configuration failed due to not enough started members",
    });
  });

  it("moves the leadership on request, and says so when it can't", async () => {
    const [one] = (await lab.cluster(3)) as [Machine];
    const moved = await lab.call(one, Api.etcdForfeitLeadership, {});
    expect(moved.messages[0]?.member).toMatch(/^cp-[23]$/);
    expect((await lab.call(one, Api.etcdForfeitLeadership, {})).messages[0]?.member).toBe("");
    const alone = new VirtualLaboratory("alone");
    const [only] = (await alone.cluster(1)) as [Machine];
    await expect(alone.call(only, Api.etcdForfeitLeadership, {})).rejects.toMatchObject({
      message: "cannot forfeit leadership, only one member",
    });
  });

  it("does not let the last member leave by a graceful reset: the machine gives up and comes back as it was", async () => {
    const [only] = (await lab.cluster(1)) as [Machine];
    await lab.call(only, Api.reset, ResetRequest.fromPartial({ graceful: true, reboot: true }));
    await lab.clock.advance(60_000);
    expect(lab.ready()).toEqual(["cp-1"]);
    await lab.call(lab.now(only.id), Api.reset, ResetRequest.fromPartial({ graceful: false, reboot: true }));
    await lab.clock.advance(5_000);
    expect(lab.now(only.id).life.stage).toBe("maintenance");
  });

  it("removes a member that is gone, by its id, and not one that it does not know", async () => {
    const [one, , three] = (await lab.cluster(3)) as [Machine, Machine, Machine];
    const id = BigInt(`0x${three.disk.etcd?.memberId}`);
    lab.simulator.deleteMachine(three.id);
    await lab.clock.advance(5_000);
    await lab.call(one, Api.etcdRemoveMemberById, { memberId: id });
    expect(await members(one)).toEqual(["cp-1", "cp-2"]);
    await expect(lab.call(one, Api.etcdRemoveMemberById, { memberId: id })).rejects.toMatchObject({
      status: "NotFound",
    });
  });

  it("is restored from a snapshot on a wiped machine, with the objects that were in it", async () => {
    const [one] = (await lab.cluster(1, 1)) as [Machine, Machine];
    const snapshot = Buffer.concat(
      (await collect<Data>(lab.stream(one, Api.etcdSnapshot, [{}]))).map((part) => part.bytes),
    );
    expect(snapshot.length % 512).toBe(32);
    const { messages } = await lab.call(one, Api.etcdStatus, {});
    const pages = Number(messages[0]?.memberStatus?.dbSize) / 4096;
    expect(pages).toBeGreaterThan(snapshot.length / 4096 - 4);
    expect(pages).toBeLessThan(snapshot.length / 4096 + 4);
    const wipe = ResetRequest.fromPartial({
      reboot: true,
      systemPartitionsToWipe: [{ label: "EPHEMERAL", wipe: true }],
    });
    await lab.call(one, Api.reset, wipe);
    await lab.clock.advance(10_000);
    expect(lab.now(one.id)).toMatchObject({ life: { stage: "booting" } });
    const damaged = Buffer.from(snapshot);
    damaged.writeUInt8(damaged.readUInt8(5_000) ^ 1, 5_000);
    const upload = async (file: Buffer): Promise<void> => {
      await collect(lab.stream(lab.now(one.id), Api.etcdRecover, [{ metadata: undefined, bytes: file }]));
    };
    const recover = (): Promise<unknown> =>
      lab.call(lab.now(one.id), Api.bootstrap, BootstrapRequest.fromPartial({ recoverEtcd: true }));
    await upload(damaged);
    await expect(recover()).rejects.toMatchObject({ message: "expected sha256 of the snapshot differs" });
    await upload(snapshot);
    await recover();
    await lab.clock.advance(10_000);
    expect(lab.ready()).toEqual(["cp-1", "w-1"]);
    await expect(upload(snapshot)).rejects.toMatchObject({ message: "etcd service is not ready for recovery yet" });
  });

  it("has nodes and pods as ready as the snapshot says until their kubelets report, and then starts the pods again", async () => {
    const [one] = (await lab.cluster(1)) as [Machine];
    const snapshot = await collect<Data>(lab.stream(one, Api.etcdSnapshot, [{}]));
    const systemPartitionsToWipe = [{ label: "EPHEMERAL", wipe: true }];
    await lab.call(one, Api.reset, ResetRequest.fromPartial({ reboot: true, systemPartitionsToWipe }));
    await lab.clock.advance(10_000);
    const bytes = Buffer.concat(snapshot.map((part) => part.bytes));
    await collect(lab.stream(lab.now(one.id), Api.etcdRecover, [{ metadata: undefined, bytes }]));
    await lab.call(lab.now(one.id), Api.bootstrap, BootstrapRequest.fromPartial({ recoverEtcd: true }));
    const seen: string[] = [];
    for (let step = 0; step < 200; step += 1) {
      const { messages } = await lab.call(lab.now(one.id), Api.containers, { namespace: "k8s.io", driver: 1 });
      const running = messages[0]?.containers.map(({ internalId }) => `containerd://${internalId}`) ?? [];
      const look = proxyAndNode(running);
      if (look !== seen.at(-1)) seen.push(look);
      await lab.clock.advance(20);
    }
    expect(seen).toEqual([
      "node True of before, pod ready, does not run",
      "node False, pod ready, does not run",
      "node True, pod ready, does not run",
      "node True, pod not ready, runs",
      "node True, pod ready, runs",
    ]);

    function proxyAndNode(running: readonly string[]): string {
      const [cluster] = Object.values(lab.simulation.world.clusters);
      const objects = Object.entries(cluster?.objects ?? {});
      const [, node] = objects.find(([key]) => key === "nodes//cp-1") ?? [];
      const [, pod] = objects.find(([key]) => key.startsWith("pods/kube-system/kube-proxy-")) ?? [];
      if (node === undefined || pod === undefined) throw new Error("the snapshot had no node or no kube-proxy");
      const { conditions: ofNode } = node.status as Status;
      const { conditions: ofPod, containerStatuses } = pod.status as Status;
      const ready = ofNode.find(({ type }) => type === "Ready");
      const since = new Date(lab.now(one.id).bootedAt).toISOString();
      const before = (ready?.lastHeartbeatTime ?? "") < since.slice(0, 19) ? " of before" : "";
      const pods = ofPod.find(({ type }) => type === "Ready")?.status === "True" ? "ready" : "not ready";
      const runs = containerStatuses?.every(({ containerID }) => running.includes(containerID))
        ? "runs"
        : "does not run";
      return `node ${ready?.status}${before}, pod ${pods}, ${runs}`;
    }
  });

  describe("restored from a snapshot of a real etcd", () => {
    const snapshotOf = async (machine: Machine): Promise<Buffer> =>
      Buffer.concat((await collect<Data>(lab.stream(machine, Api.etcdSnapshot, [{}]))).map((part) => part.bytes));
    const restored = async (file: Buffer): Promise<Machine> => {
      const [machine] = (await lab.machines(["cp-1"])) as [Machine];
      await lab.apply(machine, configFor("controlplane", machine.address, machine.name));
      await lab.clock.advance(10_000);
      const pieces = Array.from({ length: Math.ceil(file.length / 65_536) }, (_, index) => ({
        metadata: undefined,
        bytes: file.subarray(index * 65_536, (index + 1) * 65_536),
      }));
      await collect(lab.stream(lab.now(machine.id), Api.etcdRecover, pieces));
      // No Kubernetes: its first writes would change what is to be compared.
      lab.simulation.update((world) => ({
        ...world,
        machines: { ...world.machines, [machine.id]: { ...lab.now(machine.id), stopped: ["kubelet"] } },
      }));
      await lab.call(lab.now(machine.id), Api.bootstrap, BootstrapRequest.fromPartial({ recoverEtcd: true }));
      await lab.clock.advance(10_000);
      return lab.now(machine.id);
    };

    it("gives back what was in it, to the byte, and goes on counting from its revision", async () => {
      const machine = await restored(realSnapshot);
      expect((await snapshotOf(machine)).equals(realSnapshot)).toBe(true);
      expect(Object.values(lab.simulation.world.clusters)).toMatchObject([{ revision: 33, objects: {} }]);
    });

    it("keeps all of it, with what Kubernetes writes afterwards", async () => {
      const machine = await restored(realSnapshot);
      lab.simulation.update((world) => ({
        ...world,
        machines: { ...world.machines, [machine.id]: { ...lab.now(machine.id), stopped: [] } },
      }));
      await lab.clock.advance(20_000);
      const later = await snapshotOf(lab.now(machine.id));
      const folder = mkdtempSync(join(tmpdir(), "talosmith-etcd-"));
      try {
        writeFileSync(join(folder, "before.db"), realSnapshot);
        writeFileSync(join(folder, "after.db"), later);
        const [before, after] = await Promise.all(
          ["before.db", "after.db"].map((name) => snapshotStatus(join(folder, name))),
        );
        expect(after?.revision).toBe(Object.values(lab.simulation.world.clusters)[0]?.revision);
        expect(after?.revision).toBeGreaterThan(before?.revision ?? 0);
        expect(after?.entries).toBeGreaterThan(before?.entries ?? 0);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      // What it then holds is read back like any other snapshot.
      lab = new VirtualLaboratory("other");
      expect((await snapshotOf(await restored(later))).equals(later)).toBe(true);
    });

    it("refuses one whose pages are damaged, whatever its hash says", async () => {
      const file = Buffer.from(realSnapshot.subarray(0, -32));
      file.fill(0xff, 3 * 4_096, 60 * 4_096);
      await expect(restored(rehashed(file))).rejects.toMatchObject({
        message: expect.stringMatching(/^invalid database/),
      });
    });
  });

  it("keeps its promises through random power cuts", async () => {
    const action = fc.record({ machine: fc.nat(4), on: fc.boolean(), wait: fc.integer({ min: 10, max: 3_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), fc.string(), async (actions, seed) => {
        // Its own: when the time is up this goes on for a while, and must not take the next test's away.
        const lab = new VirtualLaboratory(seed);
        const machines = await lab.cluster(5);
        lab.simulation.subscribe((world) => {
          const [cluster] = Object.values(world.clusters);
          const etcd = cluster?.etcd;
          const running =
            etcd?.members.filter((member) => world.machines[member.machine]?.services.etcd?.stage === "Running") ?? [];
          // A leader only with a quorum, and only one that runs; no member is lost by a power cut.
          if (etcd?.leader !== undefined) {
            expect(running.length).toBeGreaterThan(2);
            expect(running.map((member) => member.id)).toContain(etcd.leader);
          }
          expect(etcd?.members).toHaveLength(5);
        });
        for (const { machine, on, wait } of actions) {
          lab.simulator.setPower(machines[machine]?.id ?? "", on);
          await lab.clock.advance(wait);
        }
        for (const { id } of machines) lab.simulator.setPower(id, true);
        await lab.clock.advance(20_000);
        expect(lab.ready()).toHaveLength(5);
      }),
      { numRuns: everything ? 50 : 6 },
    );
  });
});

describe("what etcd's members show of themselves", () => {
  it("is an alarm while the disk of one is full", async () => {
    const [one, two] = (await lab.cluster(3)) as [Machine, Machine, Machine];
    const alarms = async (): Promise<number[]> => {
      const { messages } = await lab.call(one, Api.etcdAlarmList, {});
      return messages[0]?.memberAlarms.map(({ alarm }) => alarm) ?? [];
    };
    expect(await alarms()).toEqual([]);
    lab.simulator.setFaults(two.id, [{ kind: "disk-full" }]);
    expect(await alarms()).toEqual([1]);
  });

  it("is a downgrade that is checked, enabled once, and cancelled", async () => {
    const [one] = (await lab.cluster(1)) as [Machine];
    const enable = (version: string) => lab.call(one, Api.etcdDowngradeEnable, { version });
    await expect(enable("3.4")).rejects.toMatchObject({
      status: "InvalidArgument",
      message: "etcd downgrade is only supported to 3.5 and later versions",
    });
    await expect(enable("3.6")).rejects.toThrow(/invalid downgrade target version/);
    await expect(lab.call(one, Api.etcdDowngradeCancel, {})).rejects.toThrow(/no inflight downgrade job/);
    expect((await enable("3.5")).messages[0]?.clusterDowngrade?.clusterVersion).toBe("3.6");
    await expect(lab.call(one, Api.etcdDowngradeValidate, { version: "3.5" })).rejects.toThrow(/ongoing downgrade job/);
    await lab.call(one, Api.etcdDowngradeCancel, {});
    await lab.call(one, Api.etcdDowngradeValidate, { version: "3.5" });
  });

  it("are sockets: its ports, and a connection to every peer that runs", async () => {
    const [one, two] = (await lab.cluster(3, 1)) as [Machine, Machine, Machine, Machine];
    const sockets = async (filter: 0 | 1 | 2): Promise<string[]> => {
      const request = NetstatRequest.fromPartial({ filter, feature: { pid: true } });
      const { messages } = await lab.call(one, Api.netstat, request);
      const found = (messages[0]?.connectrecord ?? []).filter(({ process }) => process?.name === "etcd");
      return found.map(({ localport, remoteip, remoteport }) =>
        filter === 2 ? `${localport}` : `${remoteip}:${remoteport}`,
      );
    };
    expect(await sockets(2)).toEqual(["2379", "2380"]);
    expect(await sockets(1)).toEqual(["10.5.0.3:2380", "10.5.0.4:2380"]);
    lab.simulator.setPower(two.id, false);
    await lab.clock.advance(2_000);
    expect(await sockets(1)).toEqual(["10.5.0.4:2380"]);
  });
});
