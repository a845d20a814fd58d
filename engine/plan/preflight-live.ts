// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { KubernetesVersion } from "../../talos/version/index.ts";
import type { DesiredMachine } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { StepContext } from "../execute/step-context.ts";
import type { ObservedCluster } from "../observed.ts";
import type { Step } from "../step.ts";
import { machineWork } from "./machine-work.ts";
import { configured } from "./quorum.ts";
import { strayNodes } from "./stray-nodes.ts";

/** From here on certificates and tokens of one machine are refused by another. */
const tolerated = 60_000;

/** Clocks that are too far from ours. A change of the time settings may be what mends them, and is let through. */
export async function clockFindings(context: StepContext, observed: ObservedCluster): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    context.desired.machines.map(async (machine): Promise<Finding[]> => {
      const state = configured(observed.machines.get(machine.name));
      if (state?.stage !== "running") return [];
      const offset = await clockOffset(machine, context);
      if (typeof offset === "object") return [offset];
      if (offset === undefined || Math.abs(offset) < tolerated) return [];
      const paths = machineWork(context.desired, machine, state).config?.paths ?? [];
      const mending = paths.some((path) => path.startsWith("machine.time") || path.startsWith("TimeSyncConfig"));
      const seconds = Math.round(Math.abs(offset) / 1000);
      return [
        {
          severity: mending ? "warning" : "error",
          machine: machine.name,
          message: `the clock of ${machine.name} is ${seconds} s ${offset > 0 ? "ahead of" : "behind"} ours`,
          hint: `Set the clock of whichever is wrong; check that ${machine.name} reaches its time servers (machine.time.servers).`,
        },
      ];
    }),
  );
  return findings.flat();
}

async function clockOffset(machine: DesiredMachine, context: StepContext): Promise<number | Finding | undefined> {
  try {
    return await context.machines.clockOffset(machine, context.signal);
  } catch (error) {
    const ours = TalosError.from(error);
    // It has gone down since it was looked at; whoever waits for it tells.
    if (ours.retryable) return undefined;
    if (ours.code === "canceled") throw ours;
    // Talos tells its clock only together with a time server's: without one, in a closed network, nothing is known.
    return {
      severity: "warning",
      machine: machine.name,
      message: `the clock of ${machine.name} cannot be compared with ours: ${ours.message}`,
      hint: `Give it time servers that it reaches: machine.time.servers.`,
    };
  }
}

/**
 * Nodes of machines that were removed: they were switched on again, and had a config from before. Others that are not in
 * the list, such as those of another state, are left alone: the journal tells them apart.
 */
export async function returnedFindings(
  context: StepContext,
  { kubernetes }: ObservedCluster,
): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    strayNodes(context.desired, kubernetes).map(async ({ name }): Promise<Finding[]> => {
      if (!(await context.hasFinished({ id: `delete-node/${name}` }))) return [];
      return [
        {
          severity: "warning",
          message: `${name} is a node of the cluster again, though it was removed: it has read its old config from user-data or a seed`,
          hint: `Power it off and remove its user-data or seed, then: kubectl delete node ${name}. Anyone with that user-data has the cluster's secrets: talosmith rotate-ca replaces the CAs.`,
        },
      ];
    }),
  );
  return findings.flat();
}

/** Before Kubernetes goes to another minor version: what its clients still use of what will be gone. */
export async function goneApiFindings(context: StepContext, steps: readonly Step[]): Promise<readonly Finding[]> {
  const { kubernetesVersion } = context.desired;
  if (!steps.some((step) => step.kind === "upgrade-kubernetes" && isMinorStep(step.from, step.to))) return [];
  const gone = await context.machines.kubernetes.apisGoneWith(kubernetesVersion, context.signal);
  return gone.map(({ name, removedIn, objects }) =>
    objects === undefined
      ? {
          severity: "warning",
          message: `clients of this cluster have used ${name}, which Kubernetes ${removedIn} no longer serves`,
          hint: "Find them in the audit log and upgrade them first.",
        }
      : {
          severity: "error",
          message: `there are ${objects} objects of ${name}, a kind that Kubernetes ${removedIn} no longer has`,
          hint: "Delete them, or move them to what has taken their place, before the upgrade.",
        },
  );
}

function isMinorStep(from: string, to: string): boolean {
  return KubernetesVersion.parse(from).minor !== KubernetesVersion.parse(to).minor;
}
