// SPDX-License-Identifier: Apache-2.0
import { defaultPolicy } from "../../engine/policy.ts";
import { lab, wish } from "../../test/engine/fixture.ts";
import type { Row } from "./row.ts";

const old = { talos: "v1.12.11", kubernetes: "1.35.4" };
const fresh = { ...old, talos: "v1.13.9" };
const maxUnavailable = 10;

/** In a world where an hour takes no time: what is measured is the order of the work, not this computer. */
export const upgradeLarge: Row = {
  name: `Talos upgrade of 3 + 100 machines, ${maxUnavailable} workers at once, simulated time`,
  anchor: "13 machines one after another",
  budget: 1.1,
  async measure() {
    const one = await upgrade(3, 10, 1);
    const many = await upgrade(3, 100, maxUnavailable);
    if (many.largest > maxUnavailable) throw new Error(`${many.largest} workers were away at once`);
    return {
      ours: many.simulated / 1000,
      anchor: one.simulated / 1000,
      unit: "s",
      note: `${Math.round(many.wall)} ms of wall time; at most ${many.largest} machines down at once`,
    };
  },
};

async function upgrade(planes: number, workers: number, maxUnavailable: number) {
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
  const machines = { controlPlanes: names("cp", planes), workers: names("w", workers) };
  const made = lab(wish({ ...machines, ...old }));
  made.world.maxUnavailable = maxUnavailable;
  for (const machine of made.world.machines.values()) machine.version = old.talos;
  await made.apply(wish({ ...machines, ...old }));
  const [begun, started] = [made.timing.now(), performance.now()];
  let largest = 0;
  const look = () => {
    largest = Math.max(
      largest,
      made.world.nodes().filter(({ ready, unschedulable }) => !ready || unschedulable).length,
    );
  };
  await made.apply(wish({ ...machines, ...fresh }), { policy: { ...defaultPolicy, maxUnavailable }, events: look });
  if (made.world.violations.length > 0) throw new Error(made.world.violations.join("; "));
  return { simulated: made.timing.now() - begun, wall: performance.now() - started, largest };
}
