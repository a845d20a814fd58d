// SPDX-License-Identifier: Apache-2.0
import { emit } from "../machine/events.ts";
import type { Controller } from "../machine/moment.ts";
import { mapMachines } from "../machine/world.ts";
import { machineStatus } from "./machine-status.ts";

/** Tells the event stream whenever the machine's status is another one than it last told. */
export const statusEvents: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage === "off" || machine.life.stage === "starting") return machine;
    const status = machineStatus(world, machine, moment.now);
    const last = machine.events.findLast((event) => event.body.kind === "status")?.body;
    const body = { kind: "status", ...status } as const;
    return JSON.stringify(last) === JSON.stringify(body) ? machine : emit(machine, moment.now, body);
  });
