// SPDX-License-Identifier: Apache-2.0
import { type Probe, parseAddress } from "../../talos/api/index.ts";
import type { MachineTarget } from "../machines.ts";
import type { MachineState } from "../observed.ts";

type Shown = Pick<Probe, "validFrom" | "validTo" | "names" | "namesHost">;

/** What keeps us from accepting a certificate that our CA has signed; undefined when nothing does. */
export function certificateState({ name, address }: MachineTarget, shown: Shown, now: Date): MachineState | undefined {
  const [early, late] = [shown.validFrom.getTime() - now.getTime(), now.getTime() - shown.validTo.getTime()];
  if (early > 0 || late > 0) {
    // Machines make their certificates themselves, from the moment that their own clock shows.
    const skew = early > 0 ? `${describeSkew(early)} ahead of` : `${describeSkew(late)} behind`;
    const span = `${shown.validFrom.toISOString()} to ${shown.validTo.toISOString()}`;
    return {
      kind: "unreachable",
      reason: `its certificate is valid from ${span}, and here it is ${now.toISOString()}: its clock is at least ${skew} ours`,
      certificate: {
        kind: "clock",
        hint: `Set the clock of whichever is wrong, ${name} or this computer; check that ${name} reaches its time servers (machine.time.servers).`,
      },
    };
  }
  if (shown.namesHost) return undefined;
  const { host } = parseAddress(address);
  return {
    kind: "unreachable",
    reason: `its certificate is for ${shown.names.join(", ")}, not for ${host}`,
    certificate: {
      kind: "address",
      hint: `Add ${host} to machine.certSANs of ${name}, or reach it by one of the addresses in its certificate.`,
    },
  };
}

function describeSkew(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
