// SPDX-License-Identifier: Apache-2.0
import type { Controller } from "../machine/moment.ts";
import { mapMachines } from "../machine/world.ts";

/** Takes faults away whose time is over, so that everything that depends on them looks again. */
export const expiredFaults: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    const faults = machine.faults.filter((fault) => fault.until === undefined || now < fault.until);
    return faults.length === machine.faults.length ? machine : { ...machine, faults };
  });
