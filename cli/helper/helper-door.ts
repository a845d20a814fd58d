// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { type Addon, applyAddons, removeAddon, surplusAddons } from "../../talos/addon/index.ts";
import {
  applyCluster,
  awaitHealthy,
  type ClusterEvent,
  type DesiredCluster,
  desiredCluster,
  destroyCluster,
  type EngineOptions,
  type Journal,
  journalFile,
  previewCluster,
  refusals,
  refuseDestroy,
  refuseErrors,
  type Step,
} from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import type { Deployed } from "../output/summary.ts";
import { addonAccess, readAddons } from "./addons.ts";
import { clientFiles, ensureClientFiles, removeClientFiles } from "./client-files.ts";
import { clusterSpec } from "./cluster-spec.ts";
import { refuseLostSecrets } from "./lost-secrets.ts";
import {
  absentMachines,
  ensureMachines,
  findMachines,
  hasMachines,
  isBegun,
  refuseOtherKind,
  refuseOtherOwner,
  removeMachines,
  surplusMachines,
} from "./machines.ts";
import { claimOf } from "./owner.ts";
import { readPatchFiles } from "./patch-files.ts";
import { engineCare, type HelperPolicy } from "./rollout.ts";
import { ensureSecrets, findSecrets, secretsForPlan, secretsLost } from "./secrets.ts";

export type Listener = (event: ClusterEvent) => void;

/** The engine without Terraform: makes the machines, brings the cluster up, writes the client files. */
export async function deployWithHelper(
  root: string,
  environment: Environment,
  context: CommandContext,
  events: Listener,
  policy: HelperPolicy = {},
  review?: EngineOptions["review"],
): Promise<Omit<Deployed, "seconds" | "door"> & { readonly changed: boolean }> {
  const addons = await readAddons(root, environment, context);
  refuseWithoutKubernetes(addons, policy);
  await refuseOtherKind(root, environment);
  await refuseOtherOwner(root, environment);
  await refuseLostSecrets(root, environment, context);
  // Before the machines: a run that is killed in between leaves no machine without secrets.
  const secrets = await ensureSecrets(root, environment, context);
  const addresses = await ensureMachines(root, environment);
  const leaving = await surplusMachines(root, environment);
  const files = await readPatchFiles(root, environment, context);
  const desired = desiredCluster(clusterSpec(environment, addresses, leaving, files), secrets);
  const journal = clusterJournal(root, desired.name);
  const { steps } = await applyCluster({
    desired,
    secrets,
    events,
    journal,
    directory: root,
    signal: context.signal,
    ...engineCare(environment, policy),
    claim: claimOf(root, environment),
    ...(review === undefined ? {} : { review }),
  });
  const left = leaving.map(({ name }) => name);
  await removeMachines(root, environment, left);
  const written = await ensureClientFiles(root, environment.name, desired, secrets, context);
  const released = await applyWith(addons, { root, environment, desired, secrets, events, context });
  const client = clientFiles(environment.name);
  return {
    changed: steps.length + left.length + released + written > 0,
    environment: environment.name,
    talosVersion: desired.talosVersion.toString(),
    kubernetesVersion: desired.kubernetesVersion,
    machines: desired.machines,
    endpoint: desired.endpoint,
    kubeconfigPath: client.kubeconfig,
    talosconfigPath: client.talosconfig,
  };
}

function refuseWithoutKubernetes(addons: readonly Addon[], { kubernetes }: HelperPolicy): void {
  if (kubernetes !== false || addons.length === 0) return;
  throw new TalosError("invalid-input", `--no-kubernetes, but the file has ${addons.length} add-ons`, {
    hint: "Leave the flag out, or the section addons.",
  });
}

/** The add-ons, and after those that bring the pod network the health of the whole; how many have changed. */
async function applyWith(addons: readonly Addon[], run: AddonRun): Promise<number> {
  const { root, environment, events, context } = run;
  if (addons.length === 0) return 0;
  let changed = 0;
  const access = addonAccess(root, environment.name, context);
  const tell = (message: string) => events({ type: "step-finished", at: context.clock.now(), message });
  await applyAddons(addons, access, ({ name }, outcome) => {
    if (outcome === "begun") return;
    if (outcome === "changed") changed += 1;
    tell(`add-on ${name}: ${outcome === "changed" ? "applied" : "as wished"}`);
  });
  for (const release of await surplusAddons(addons, access)) {
    await removeAddon(release, access);
    changed += 1;
    tell(`add-on ${release.name}: removed`);
  }
  if (environment.addons.some(({ cni }) => cni)) await awaitNodes(run);
  return changed;
}

interface AddonRun {
  readonly root: string;
  readonly environment: Environment;
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
  readonly events: Listener;
  readonly context: CommandContext;
}

/** Until the pod network came, the nodes could not become ready; now they must. */
async function awaitNodes({ environment, desired, secrets, events, context: { signal } }: AddonRun): Promise<void> {
  const whole = { ...desired, nodesBecomeReady: true };
  await awaitHealthy({ desired: whole, secrets, ...engineCare(environment), events, signal });
}

/** Where the provider keeps it, too: one history, whichever door was used. */
export function clusterJournal(root: string, cluster: string): Journal {
  return journalFile(join(root, "generated", cluster, "journal.jsonl"));
}

export interface HelperPlan {
  /** Machines that would be made first; their own steps are known only when they are there. */
  readonly missing: readonly string[];
  readonly steps: readonly Step[];
  /** Machines that could not be looked at, each with the reason: what they need is not in the steps. */
  readonly unseen: readonly string[];
}

/** What a deploy would do: the machines to make, and the engine's steps on the ones that are there. Throws when a deploy would refuse. */
export async function planWithHelper(
  root: string,
  environment: Environment,
  context: CommandContext,
  policy: HelperPolicy = {},
): Promise<HelperPlan> {
  await refuseOtherKind(root, environment);
  await refuseOtherOwner(root, environment);
  const addresses = await findMachines(root, environment);
  const missing = absentMachines(environment, addresses);
  await refuseLostSecrets(root, environment, context);
  if (!isBegun(environment, addresses)) return { missing, steps: [], unseen: [] };
  const secrets = await secretsForPlan(root, environment, context);
  const leaving = await surplusMachines(root, environment);
  const files = await readPatchFiles(root, environment, context);
  const desired = desiredCluster(clusterSpec(environment, addresses, leaving, files), secrets);
  const care = engineCare(environment, policy);
  const claim = claimOf(root, environment);
  const preview = await previewCluster({ desired, secrets, ...care, claim, signal: context.signal });
  refuseErrors(refusals(preview));
  const { steps, observed } = preview;
  const unseen = desired.machines.flatMap(({ name }) => {
    const state = observed.machines.get(name)?.state;
    return state?.kind === "unreachable" || state?.kind === "foreign" ? [`${name}: ${state.reason}`] : [];
  });
  return { missing, steps, unseen };
}

/** Throws for an environment whose file has deletion protection. */
export function refuseProtected({ cluster: { name }, infrastructure: { deletionProtection } }: Environment): void {
  refuseDestroy({ name, deletionProtection });
}

/** Resets every machine of the cluster, then takes the machines and the client files away. */
export async function destroyWithHelper(
  root: string,
  environment: Environment,
  context: CommandContext,
  events: Listener,
): Promise<void> {
  refuseProtected(environment);
  const addresses = await findMachines(root, environment);
  const secrets = await findSecrets(root, environment, context);
  // Simulated machines go with the simulator; real ones would run on, though we called them gone.
  if (secrets === undefined && environment.kind !== "simulated" && (await hasMachines(root, environment)))
    throw secretsLost(
      root,
      environment,
      "Put its secrets file back: without it nobody can reset the machines. If they are wiped already, remove their record in state/.",
    );
  if (secrets !== undefined && isBegun(environment, addresses)) {
    const leaving = await surplusMachines(root, environment);
    const desired = desiredCluster(clusterSpec(environment, addresses, leaving), secrets);
    const journal = clusterJournal(root, desired.name);
    await destroyCluster({
      ...{ desired, secrets, events, journal, signal: context.signal },
      ...engineCare(environment),
      claim: claimOf(root, environment),
    });
  }
  await removeMachines(root, environment);
  await removeClientFiles(root, environment.name);
}
