// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { historyOf } from "../../simulator/kubernetes/watch.ts";
import {
  MachineServiceService as Api,
  ResetRequest,
  type VersionResponse,
} from "../../talos/api/gen/machine/machine.ts";
import { configFor, Laboratory, unary } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

it("a cluster that is made anew with the secrets of an older one tells watches nothing of that one", async () => {
  const lab = new VirtualLaboratory();
  const history = historyOf(lab.simulation);
  const [first] = await lab.cluster(1);
  if (first === undefined) throw new Error("there is no machine");
  const clusterNow = () => Object.values(lab.simulation.world.clusters)[0];
  const before = clusterNow();
  const known = new Set(Object.values(before?.objects ?? {}).map(({ metadata }) => metadata.uid));
  await lab.call(first, Api.reset, ResetRequest.fromPartial({ reboot: true }));
  await lab.clock.advance(5_000);
  expect(clusterNow()).toBeUndefined();

  await lab.apply(lab.now(first.id), configFor("controlplane", first.address, "cp-1"));
  await lab.clock.advance(5_000);
  await lab.bootstrap(lab.now(first.id));
  await lab.clock.advance(300);
  const after = clusterNow();
  expect([after?.key, (after?.revision ?? 0) < (before?.revision ?? 0)]).toEqual([before?.key, true]);
  const told = history.after(after?.key ?? "", 0) ?? [];
  expect(told.length).toBeGreaterThan(0);
  expect(told.filter(({ object }) => known.has(object.metadata.uid))).toEqual([]);
});

it("a worker whose process starts while no control plane can sign answers again when one can", async () => {
  const lab = await Laboratory.open("second-life");
  try {
    const [plane, worker] = await lab.cluster(1, 1);
    if (plane === undefined || worker === undefined) throw new Error("there is no machine");
    const wipe = ResetRequest.fromPartial({ graceful: false, reboot: true });
    await unary((done) => lab.machineApi(plane.address).reset(wipe, done));
    await lab.reach(plane, "maintenance");
    await lab.reopen();
    await lab.apply(plane, configFor("controlplane", plane.address, "cp-1"));
    await lab.reach(plane, "booting");
    const { messages } = await unary<VersionResponse>((done) => lab.machineApi(worker.address).version({}, done));
    expect(messages[0]?.version?.tag).toBe("v1.13.9");
  } finally {
    await lab.close();
  }
});
