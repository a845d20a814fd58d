// SPDX-License-Identifier: Apache-2.0
import {
  creationSteps,
  type EngineOptions,
  maintainMachine,
  planDestroy,
  planMaintenance,
  previewCluster,
  refuseErrors,
} from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { sizeOf } from "../../workspace/amounts.ts";
import { openBackups, takeBackup } from "../../workspace/backups.ts";
import {
  deployWithoutTerraform,
  destroyWithoutTerraform,
  planWithoutTerraform,
  refuseProtected,
} from "../../workspace/deploy.ts";
import { drillBackup, drillVerdict } from "../../workspace/drill.ts";
import {
  type EditedEnvironment,
  forgetPreviousContract,
  saveContract,
  saveTexts,
  withNewVersions,
  withPoolCount,
} from "../../workspace/environment-file.ts";
import { absentMachines, isBegun } from "../../workspace/machines.ts";
import type { ProgressListener } from "../../workspace/planned-change.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Action, PlannedStep } from "../shared/wire.ts";

type Steps = readonly PlannedStep[];
type Edit = Extract<Action, { kind: "upgrade" | "scale" }>;

/** What an action of the page would do, from the same plans that the commands show. */
export async function planAction(workspace: Workspace, action: Action): Promise<Steps> {
  const only = (id: string, sentence: string) => [{ id, sentence, destructive: false }];
  switch (action.kind) {
    case "apply":
      return planDeploy(workspace);
    case "upgrade":
    case "scale": {
      const { environment, texts } = edit(workspace, action);
      const edited = workspace.with(environment);
      await refuseImpossible(edited);
      const steps = await planDeploy(edited);
      return texts.size === 0 ? steps : [...only("edit", sentenceOf(texts, action)), ...steps];
    }
    case "destroy":
      return planDestruction(workspace);
    case "backup": {
      const { store } = await openBackups(workspace);
      return only("backup", `take a snapshot of etcd and put it into ${store.place}`);
    }
    case "drill":
      await openBackups(workspace);
      return only("drill", `restore ${action.backup} into a simulator of its own and compare what comes out`);
    default: {
      const options = await owned(workspace);
      const { observed } = await previewCluster(options);
      return planMaintenance(action.kind, action.machine, options.desired, observed, options.policy);
    }
  }
}

/** Does it. The answer says what came of it, where the steps do not. */
export async function performAction(
  workspace: Workspace,
  action: Action,
  events: ProgressListener,
): Promise<string | undefined> {
  switch (action.kind) {
    case "apply":
      await deployWithoutTerraform(workspace, events);
      await saveContract(workspace.root, workspace.environment);
      await forgetPreviousContract(workspace.root, workspace.environment);
      return undefined;
    case "upgrade":
    case "scale": {
      const { environment, texts } = edit(workspace, action);
      // What a deploy would refuse must not change the file.
      await planWithoutTerraform(workspace.with(environment));
      await saveTexts(workspace.root, texts);
      await deployWithoutTerraform(workspace.written(environment), events);
      return undefined;
    }
    case "destroy":
      await destroyWithoutTerraform(workspace, events);
      return undefined;
    case "backup": {
      const tell = (reason: string) =>
        events({ type: "warning", at: workspace.context.clock.now(), message: `again after: ${reason}` });
      const { id, bytes, revision, hash } = await takeBackup(await openBackups(workspace), tell);
      return `${id}: ${sizeOf(bytes)}, revision ${revision}, hash ${hash}: whole.`;
    }
    case "drill":
      return drillVerdict(await drillBackup(await openBackups(workspace), action.backup, events));
    default: {
      await maintainMachine(action.kind, action.machine, { ...(await owned(workspace)), events });
      return undefined;
    }
  }
}

/** For work that changes a cluster: one that another state has is refused, as by the commands. */
async function owned(workspace: Workspace): Promise<EngineOptions> {
  return { ...(await workspace.engineOptions()), claim: workspace.claim };
}

async function planDeploy(workspace: Workspace): Promise<Steps> {
  const { missing, steps } = await planWithoutTerraform(workspace);
  return [...creationSteps(missing), ...steps];
}

/** Of a cluster that some machines are gone from already, as an earlier destroy leaves it, the rest are taken away. */
async function planDestruction(workspace: Workspace): Promise<Steps> {
  const { environment, machines } = workspace;
  refuseProtected(environment);
  const left = await machines.find();
  if (left.size > 0 && absentMachines(environment, left).length > 0)
    return [...left.keys()].map((name) => ({
      id: `remove/${name}`,
      sentence: `remove the machine ${name}`,
      destructive: true,
    }));
  const options = await owned(workspace);
  const { observed } = await previewCluster(options);
  return planDestroy(options.desired, observed);
}

function edit({ root, environment }: Workspace, action: Edit): EditedEnvironment {
  if (action.kind === "scale") return withPoolCount(root, environment, action.pool, action.count);
  if (action.talosVersion === undefined && action.kubernetesVersion === undefined)
    throw new TalosError("invalid-input", "an upgrade needs a version of Talos or of Kubernetes");
  return withNewVersions(root, environment, action);
}

function sentenceOf(texts: EditedEnvironment["texts"], action: Edit): string {
  const files = [...texts.keys()].join(" and ");
  if (action.kind === "scale") return `write into ${files}: ${action.count} machines in the pool ${action.pool}`;
  const { talosVersion, kubernetesVersion } = action;
  const wanted = [talosVersion && `Talos ${talosVersion}`, kubernetesVersion && `Kubernetes ${kubernetesVersion}`];
  return `write into ${files}: ${wanted.filter(Boolean).join(", ")}`;
}

/** Before the file is changed: what the engine would refuse must not be written. */
async function refuseImpossible(workspace: Workspace): Promise<void> {
  const { environment, machines } = workspace;
  const addresses = await machines.find();
  const secrets = await workspace.secrets.find();
  if (secrets === undefined || !isBegun(environment, addresses)) return;
  const desired = await workspace.desired(secrets, addresses, { leaving: await machines.surplus() });
  const { findings } = await previewCluster(workspace.engineOptionsFor({ desired, secrets }));
  refuseErrors(findings);
}
