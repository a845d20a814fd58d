// SPDX-License-Identifier: Apache-2.0
import { type AttributePath, type Diagnostics, isUnknown, path } from "../../framework/index.ts";
import type { ClusterWishes } from "./attributes.ts";

/** Faults of the gates, windows and canary of a rollout. */
export async function checkCaution(rollout: ClusterWishes["rollout"], diagnostics: Diagnostics): Promise<void> {
  if (rollout === null || isUnknown(rollout)) return;
  const { gates, windows, canary } = rollout;
  const refuse = (found: unknown, expected: string, where: AttributePath) =>
    diagnostics.error({
      summary: "Unknown value",
      detail: `Found ${JSON.stringify(found)}; expected ${expected}.`,
      path: where,
    });
  const at = path("rollout");
  if (gates !== null && !isUnknown(gates))
    gates.forEach((gate, index) => {
      if (isUnknown(gate) || isUnknown(gate.command) || isUnknown(gate.url)) return;
      const { command, url } = gate;
      const where = at.attribute("gates").index(index);
      if ((command === null) === (url === null)) refuse({ command, url }, "one of command and url", where);
      else if (command?.length === 0) refuse(command, "a program and its arguments", where.attribute("command"));
      else if (typeof url === "string" && !/^https?:/.test(url))
        refuse(url, "an http or https URL", where.attribute("url"));
    });
  if (windows !== null && !isUnknown(windows) && windows.length > 0) {
    const { isCron, isTimeZone } = await import("../../../model/cron.ts");
    windows.forEach((window, index) => {
      if (isUnknown(window)) return;
      const { schedule, time_zone: zone } = window;
      const where = at.attribute("windows").index(index);
      if (typeof schedule === "string" && !isCron(schedule))
        refuse(schedule, "five fields, as cron has them", where.attribute("schedule"));
      if (typeof zone === "string" && !isTimeZone(zone))
        refuse(zone, "a time zone such as Europe/Berlin", where.attribute("time_zone"));
    });
  }
  if (canary !== null && !isUnknown(canary) && typeof canary.machines === "number" && canary.machines < 1)
    refuse(canary.machines, "a number from 1 on", at.attribute("canary").attribute("machines"));
}
