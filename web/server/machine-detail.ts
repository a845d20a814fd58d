// SPDX-License-Identifier: Apache-2.0
import { type DesiredMachine, type MachineState, readerOf, talosMachines } from "../../engine/index.ts";
import { redactConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { plainText } from "../../talos/plain-text.ts";
import { hideSecrets } from "../../talos/secrets/index.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";
import type { MachineDetail } from "../shared/wire.ts";
import { configDifferences } from "./config-differences.ts";

/** Throws when the cluster has no such machine. */
export function findMachine({ desired }: Pick<DeployedCluster, "desired">, name: string): DesiredMachine {
  const found = desired.machines.find((machine) => machine.name === name);
  if (found === undefined) throw new TalosError("not-found", `${desired.name} has no machine ${name}`);
  return found;
}

/** A machine of which nothing is known but why. */
export function unknownMachine(name: string, problem: string): MachineDetail {
  return {
    name,
    problem,
    schematic: null,
    services: [],
    addresses: [],
    disks: [],
    config: null,
    changes: [],
    moved: null,
  };
}

/** Everything about one machine, as it says now. Not reaching it is a state. */
export async function machineDetail(
  opened: Pick<DeployedCluster, "desired" | "secrets">,
  machine: DesiredMachine,
  signal: AbortSignal,
): Promise<MachineDetail> {
  const machines = talosMachines(opened);
  const reader = readerOf(opened, machine);
  try {
    const state = await machines.inspect(machine, signal);
    if (state.kind !== "configured") return unknownMachine(machine.name, problemOf(state));
    const [services, addresses, disks, schematic] = await Promise.all([
      reader.serviceList({ signal }),
      reader.addresses({ signal }),
      reader.disks({ signal }),
      reader.schematic({ signal }),
    ]);
    const hidden = hideSecrets(opened.secrets);
    const hide = (text: string) => plainText(hidden(text));
    return {
      name: machine.name,
      problem: null,
      schematic: schematic ?? null,
      services: services.map(({ id, state: word, healthy, healthUnknown }) => ({
        name: id,
        state: word,
        healthy: healthUnknown ? null : healthy,
      })),
      addresses,
      disks,
      config: state.config === undefined ? null : hide(redactConfig(state.config)),
      ...(state.config === undefined ? { changes: [], moved: null } : configDifferences(machine, state.config, hide)),
    };
  } catch (error) {
    const { code, message } = TalosError.from(error);
    if (code === "internal") throw error;
    return unknownMachine(machine.name, message);
  } finally {
    reader.close();
    machines.close();
  }
}

function problemOf(state: Exclude<MachineState, { kind: "configured" }>): string {
  return state.kind === "maintenance" ? "It is in maintenance mode and has no config yet." : state.reason;
}
