// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import type { Data } from "../../talos/api/gen/common/common.ts";
import { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { collect } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

test("every message of the kernel is sent by itself, for talosctl puts the machine before each", async () => {
  const lab = new VirtualLaboratory();
  const [machine] = (await lab.cluster(1)) as [Machine];
  const request = { follow: false, tail: false };
  const parts = await collect<Data>(lab.stream(lab.now(machine.id), MachineServiceService.dmesg, [request]));
  const texts = parts.map(({ bytes }) => Buffer.from(bytes).toString());
  expect(texts.length).toBeGreaterThan(10);
  expect(texts.filter((text) => !/^(kern|user): .*\n$/.test(text))).toEqual([]);
});
