// SPDX-License-Identifier: Apache-2.0
import {
  defaultPolicy,
  desiredCluster,
  type EventListener,
  maintainMachine,
  makingSteps,
  planDestroy,
  planMaintenance,
  preflight,
  previewCluster,
} from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { Workshop } from "../../web/server/index.ts";
import type { CommandContext } from "../context.ts";
import { sizeOf } from "../output/amounts.ts";
import { openBackups, takeBackup } from "./backups.ts";
import { clusterSpec } from "./cluster-spec.ts";
import { drillBackup, drillVerdict } from "./drill.ts";
import { type EditedEnvironment, saveTexts, withNewVersions, withPoolCount } from "./environment-file.ts";
import { clusterJournal, deployWithHelper, destroyWithHelper, planWithHelper, refuseProtected } from "./helper-door.ts";
import { absentMachines, findMachines, isBegun, surplusMachines } from "./machines.ts";
import { openCluster } from "./open-cluster.ts";
import { readPatchFiles } from "./patch-files.ts";
import { engineCare } from "./rollout.ts";
import { findSecrets } from "./secrets.ts";

type Action = Parameters<Workshop["plan"]>[1];
type Steps = Awaited<ReturnType<Workshop["plan"]>>;
type Edit = Extract<Action, { kind: "upgrade" | "scale" }>;

/** What an action of the page would do, from the same plans that the commands show. */
export async function planAction(
  root: string,
  environment: Environment,
  action: Action,
  context: CommandContext,
): Promise<Steps> {
  const only = (id: string, sentence: string) => [{ id, sentence, destructive: false }];
  switch (action.kind) {
    case "apply":
      return planDeploy(root, environment, context);
    case "upgrade":
    case "scale": {
      const { environment: edited, texts } = edit(root, environment, action);
      await refuseImpossible(root, edited, context);
      return [
        ...(texts.size === 0 ? [] : only("edit", sentenceOf(texts, action))),
        ...(await planDeploy(root, edited, context)),
      ];
    }
    case "destroy":
      return planDestruction(root, environment, context);
    case "backup": {
      const { store } = await openBackups(environment.name, context);
      return only("backup", `take a snapshot of etcd and put it into ${store.place}`);
    }
    case "drill":
      await openBackups(environment.name, context);
      return only("drill", `restore ${action.backup} into a simulator of its own and compare what comes out`);
    default: {
      const opened = await openCluster(environment.name, context);
      const care = engineCare(environment);
      const { observed } = await previewCluster({ ...opened, ...care, signal: context.signal });
      const policy = { ...defaultPolicy, ...care.policy };
      return planMaintenance(action.kind, action.machine, opened.desired, observed, policy);
    }
  }
}

/** Does it. The answer says what came of it, where the steps do not. */
export async function performAction(
  root: string,
  environment: Environment,
  action: Action,
  events: EventListener,
  context: CommandContext,
): Promise<string | undefined> {
  const { name } = environment;
  switch (action.kind) {
    case "apply":
      await deployWithHelper(root, environment, context, events);
      return undefined;
    case "upgrade":
    case "scale": {
      const edited = edit(root, environment, action);
      // What a deploy would refuse must not change the file.
      await planWithHelper(root, edited.environment, context);
      await saveTexts(root, edited.texts);
      await deployWithHelper(root, edited.environment, context, events);
      return undefined;
    }
    case "destroy":
      await destroyWithHelper(root, environment, context, events);
      return undefined;
    case "backup": {
      const tell = (reason: string) =>
        events({ type: "warning", at: context.clock.now(), message: `again after: ${reason}` });
      const { id, bytes, revision, hash } = await takeBackup(await openBackups(name, context), context, tell);
      return `${id}: ${sizeOf(bytes)}, revision ${revision}, hash ${hash}: whole.`;
    }
    case "drill":
      return drillVerdict(await drillBackup(await openBackups(name, context), action.backup, context, events));
    default: {
      const { desired, secrets } = await openCluster(name, context);
      const journal = clusterJournal(root, desired.name);
      await maintainMachine(action.kind, action.machine, {
        ...{ desired, secrets, events, journal, directory: root, signal: context.signal },
        ...engineCare(environment),
      });
      return undefined;
    }
  }
}

async function planDeploy(root: string, environment: Environment, context: CommandContext): Promise<Steps> {
  const { missing, steps } = await planWithHelper(root, environment, context);
  return [...makingSteps(missing), ...steps];
}

/** Of a cluster that some machines are gone from already, as an earlier destroy leaves it, the rest are taken away. */
async function planDestruction(root: string, environment: Environment, context: CommandContext): Promise<Steps> {
  refuseProtected(environment);
  const left = await findMachines(root, environment);
  if (left.size > 0 && absentMachines(environment, left).length > 0)
    return [...left.keys()].map((name) => ({
      id: `remove/${name}`,
      sentence: `remove the machine ${name}`,
      destructive: true,
    }));
  const opened = await openCluster(environment.name, context);
  const { observed } = await previewCluster({ ...opened, ...engineCare(environment), signal: context.signal });
  return planDestroy(opened.desired, observed);
}

function edit(root: string, environment: Environment, action: Edit): EditedEnvironment {
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
async function refuseImpossible(root: string, environment: Environment, context: CommandContext): Promise<void> {
  const addresses = await findMachines(root, environment);
  const secrets = await findSecrets(root, environment, context);
  if (secrets === undefined || !isBegun(environment, addresses)) return;
  const desired = desiredCluster(
    clusterSpec(
      environment,
      addresses,
      await surplusMachines(root, environment),
      await readPatchFiles(root, environment, context),
    ),
    secrets,
  );
  const { observed } = await previewCluster({
    desired,
    secrets,
    ...engineCare(environment),
    signal: context.signal,
  });
  const errors = preflight(desired, observed).filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  const hint = [...new Set(errors.flatMap((finding) => finding.hint ?? []))].join(" ");
  throw new TalosError("failed-precondition", errors.map(({ message }) => message).join("\n"), { hint });
}
