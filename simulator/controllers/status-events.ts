// SPDX-License-Identifier: Apache-2.0
import { emit } from "../machine/events.ts";
import type { Controller } from "../machine/moment.ts";
import { mapMachines } from "../machine/world.ts";
import { type MachineStatus, machineStatus } from "./machine-status.ts";

/** Tells the event stream whenever the machine's status is another one than it last told. */
export const statusEvents: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage === "off" || machine.life.stage === "starting") return machine;
    const status = machineStatus(world, machine, moment.now);
    const last = machine.events.findLast((event) => event.body.kind === "status")?.body;
    return last?.kind === "status" && isSame(last, status)
      ? machine
      : emit(machine, moment.now, { kind: "status", ...status });
  });

function isSame(a: MachineStatus, b: MachineStatus): boolean {
  return (
    a.stage === b.stage &&
    a.ready === b.ready &&
    a.unmet.length === b.unmet.length &&
    a.unmet.every(({ name, reason }, index) => name === b.unmet[index]?.name && reason === b.unmet[index]?.reason)
  );
}
