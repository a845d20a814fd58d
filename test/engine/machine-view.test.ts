// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { inReadingOrder, machineView } from "../../engine/index.ts";

const machine = (name: string, role: "controlplane" | "worker" = "worker") => ({ name, role, address: "192.0.2.7" });

test("machines are told with control planes first, and counted as people count", () => {
  const machines = [machine("w-10"), machine("w-2"), machine("z-1", "controlplane"), machine("w-1")];
  expect(inReadingOrder(machines).map(({ name }) => name)).toEqual(["z-1", "w-1", "w-2", "w-10"]);
});

test.each([
  [{ kind: "unreachable", reason: "the connection was refused" }, "unreachable"],
  // It answers; what it was is gone, and what it becomes is not there yet.
  [{ kind: "unreachable", reason: "it has just got another certificate", onItsWay: true }, "starting"],
  [{ kind: "foreign", reason: "x509" }, "unreachable"],
] as const)("a machine that cannot be asked is told as what it is: %j", (state, health) => {
  const kubernetes = { kind: "unreachable", reason: "" } as const;
  const observed = { machines: new Map([["w-1", { ...machine("w-1"), state }]]), kubernetes };
  expect(machineView(machine("w-1"), observed).health).toBe(health);
});

test.each([
  ["192.0.2.7: the connection was refused", "the connection was refused"],
  ["192.0.2.70: the connection was refused", "192.0.2.70: the connection was refused"],
  ["it has just got another certificate", "it has just got another certificate"],
])("why a machine cannot be asked is said without its own address: %s", (reason, told) => {
  const state = { kind: "unreachable", reason } as const;
  const kubernetes = { kind: "unreachable", reason } as const;
  const observed = { machines: new Map([["w-1", { ...machine("w-1"), state }]]), kubernetes };
  expect(machineView(machine("w-1"), observed).reason).toBe(told);
});
