// SPDX-License-Identifier: Apache-2.0
import type { Controller } from "../machine/moment.ts";
import { mapMachines, without } from "../machine/world.ts";

/** Takes a config that was only tried back when its time is over. */
export const tryMode: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    if (machine.tryUntil === undefined || machine.tryUntil > now) return machine;
    const { activeConfig: tried, ...rest } = without(machine, "tryUntil");
    const kept = machine.disk.config ?? tried;
    return kept === undefined ? rest : { ...rest, activeConfig: kept };
  });
