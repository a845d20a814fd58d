// SPDX-License-Identifier: Apache-2.0
import {
  creationSteps,
  type DesiredMachine,
  inReadingOrder,
  machineView,
  type ObservedCluster,
} from "../../engine/index.ts";
import { endsSoon } from "../../talos/client-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { conditionsNow, observeCluster } from "../../watch/index.ts";
import { ageOf } from "../../workspace/amounts.ts";
import { backupLine } from "../../workspace/backups.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { conditionLines } from "../output/condition-lines.ts";
import { contractLine } from "../output/contract-line.ts";
import { pendingLines } from "../output/pending-lines.ts";
import { jsonText, tableOf } from "../output/table.ts";
import { forRun, showManager } from "./change.ts";

export async function status(
  name: string,
  { json, kubernetes }: { json: boolean; kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = await openObserved(name, context);
  const { desired, absent } = await workspace.deployed();
  const managedBy = await showManager(workspace, { json }, context);
  const observation = await observeCluster(forRun(workspace, { kubernetes }));
  const { observed, backup } = observation;
  const pending = [...creationSteps(absent), ...observation.steps];
  const certificates = observation.certificates.filter(({ renewable }) => renewable);
  const machines = inReadingOrder(desired.machines).map((machine) => machineStatus(machine, observed));
  const conditions = await conditionsNow(workspace.root, name, observation, context.clock.now());
  if (json) {
    const report = {
      v: 1,
      cluster: desired.name,
      managedBy,
      endpoint: desired.endpoint,
      configContract: desired.contract.toString(),
      conditions: conditions.cluster,
      machines: machines.map((machine) => ({ ...machine, conditions: conditions.machines[machine.name] ?? [] })),
      pending: pending.map(({ id }) => id),
      certificates: observation.certificates.map(({ name: file, expiresAt }) => ({
        name: file,
        expiresAt: expiresAt.toISOString(),
      })),
      ...given({ backup }),
    };
    return context.stdout.write(jsonText(report));
  }
  context.stdout.write(tableOf(["name", "role", "address", "stage", "ready", "talos", "kubelet", "etcd"], machines));
  for (const line of conditionLines(conditions.cluster, context.clock.now())) context.stderr.write(`${line}\n`);
  context.stderr.write(`${contractLine(workspace.environment)}\n`);
  context.stderr.write(
    pendingLines(pending, machines)
      .map((line) => `${line}\n`)
      .join(""),
  );
  for (const { name: file, expiresAt } of certificates) {
    const left = expiresAt.getTime() - context.clock.now().getTime();
    const soon = endsSoon(expiresAt, context.clock.now()) ? ": renewed by the next deploy" : "";
    context.stderr.write(
      `${file}: valid until ${expiresAt.toISOString()}, ${left > 0 ? `${ageOf(left)} left` : "over"}${soon}\n`,
    );
  }
  if (backup !== undefined) context.stderr.write(`${backupLine(backup)}\n`);
}

/** A cluster that runs is shown although main.ts fails. */
async function openObserved(name: string, context: CommandContext): Promise<Workspace> {
  const workspace = openWorkspace(name, context);
  try {
    await workspace.deployed();
    return workspace;
  } catch (error) {
    if (context.signal.aborted) throw error;
    const byFile = workspace.byFileAlone();
    // Fails as before where main.ts is not the reason.
    await byFile.deployed();
    const { message } = TalosError.from(error);
    context.stderr.write(
      `Warning: ${message}\n  The cluster is compared with ${workspace.environment.file} alone: steps to do may be wrong.\n`,
    );
    return byFile;
  }
}

/** A machine as `status` tells it. */
export function machineStatus(machine: DesiredMachine, observed: ObservedCluster) {
  const { name, role, address, stage, health, ...view } = machineView(machine, observed);
  const { talosVersion: talos = "-", kubeletVersion: kubelet = "-", etcd = "-" } = view;
  return { name, role, address, stage, ready: health === "ready", talos, kubelet, etcd };
}
