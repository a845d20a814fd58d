// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lockFileFor, withLock } from "../../engine/index.ts";
import { type Authentication, type CallOptions, connect, type TalosClient } from "../../talos/api/index.ts";
import {
  findTalosconfig,
  parseTalosconfig,
  readTalosconfig,
  type TalosContext,
  type Talosconfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { publicKeyFingerprint } from "../../talos/pki/index.ts";
import { clientFilePaths, talosconfigText } from "../../workspace/client-files.ts";
import { addressesByName } from "../../workspace/machine-names.ts";
import { environmentsHere, projectRoot } from "../../workspace/project.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { type ChosenCluster, chosenCluster, isMachineName, machineNamed } from "./chosen-cluster.ts";
import type { TargetFlags } from "./target-flags.ts";

/** One machine that a command is for. */
export interface Target {
  /** Its name where the user named it, else its address. */
  readonly node: string;
  readonly client: TalosClient;
  /** For every call: who it is for, and when to stop. */
  readonly call: CallOptions;
}

/** A machine that a command is for, before there is a connection to it. */
interface Node {
  readonly node: string;
  readonly address: string;
}

type Access = TalosContext & { readonly credentials: NonNullable<TalosContext["credentials"]> };

/** Lends the work a connection to each machine; they are closed whatever happens. */
export async function withTargets(
  flags: TargetFlags,
  context: CommandContext,
  work: (targets: readonly Target[]) => Promise<void>,
): Promise<void> {
  const targets = flags.insecure ? await maintenanceTargets(flags, context) : await configuredTargets(flags, context);
  try {
    await work(targets);
  } finally {
    for (const { client } of targets) client.close();
  }
}

/** Does the work for one machine after the other. */
export function forEachTarget(
  flags: TargetFlags,
  context: CommandContext,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  return withTargets(flags, context, async (targets) => {
    for (const target of targets) await work(target);
  });
}

/** Does the work for all machines at once, for what may have no end. The others go on when one fails. */
export function forAllTargets(
  flags: TargetFlags,
  context: CommandContext,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  return withTargets(flags, context, async (targets) => {
    const outcomes = await Promise.allSettled(targets.map(work));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  });
}

/** As `forEachTarget` for work that changes something: no other run of ours may work on this cluster meanwhile. */
export async function changeEachTarget(
  flags: TargetFlags,
  context: CommandContext,
  work: (target: Target) => Promise<void>,
): Promise<void> {
  if (flags.insecure) return forEachTarget(flags, context, work);
  const { credentials } = await talosContext(flags, context);
  const file = lockFileFor(publicKeyFingerprint(credentials.ca));
  return withLock(file, { what: "a command for single machines" }, () => forEachTarget(flags, context, work));
}

/** Whom a command is for, as far as flags and talosconfig say. */
export async function targetNodes(flags: TargetFlags, context: CommandContext): Promise<readonly string[]> {
  const found = flags.insecure
    ? await named(flags.nodes, flags, context)
    : await nodesOf(flags, await talosContext(flags, context), context);
  return found.map(({ node }) => node);
}

/** For what talosctl does for one machine only. */
export async function requireOneNode(command: string, flags: TargetFlags, context: CommandContext): Promise<void> {
  const { length } = await targetNodes(flags, context);
  if (length <= 1) return;
  throw new TalosError("invalid-input", `${command} is for one machine, not for ${length}`, {
    hint: "Name one with -n.",
  });
}

const chosenIn = (flags: TargetFlags, context: CommandContext): ChosenCluster =>
  chosenCluster(flags.environment, environmentsHere(context));

/** The control planes that a command connects to. */
export function endpointsOf(flags: TargetFlags, talos: TalosContext, context: CommandContext): readonly string[] {
  const chosen = [...flags.endpoints, ...chosenIn(flags, context).endpoints];
  return chosen.length > 0 ? chosen : talos.endpoints;
}

function nodesOf(flags: TargetFlags, talos: TalosContext, context: CommandContext): Promise<readonly Node[]> {
  const wanted = flags.nodes.length > 0 ? flags.nodes : (talos.nodes ?? endpointsOf(flags, talos, context));
  return named(wanted, flags, context);
}

/** With an environment, machines may be named; without one a name is a host's, as with talosctl. */
async function named(nodes: readonly string[], flags: TargetFlags, context: CommandContext): Promise<readonly Node[]> {
  const { environment } = chosenIn(flags, context);
  if (environment === undefined || !nodes.some(isMachineName)) return nodes.map((node) => ({ node, address: node }));
  const addresses = await addressesByName(openWorkspace(environment, context));
  return nodes.map((node) => {
    if (!isMachineName(node)) return { node, address: node };
    const machine = machineNamed(node, [...addresses.keys()]);
    return { node: machine, address: addresses.get(machine) ?? machine };
  });
}

async function maintenanceTargets(flags: TargetFlags, context: CommandContext): Promise<Target[]> {
  if (flags.nodes.length === 0) throw noNodes();
  const authentication: Authentication =
    flags.certFingerprint.length > 0
      ? { kind: "maintenance", fingerprints: flags.certFingerprint }
      : { kind: "maintenance", trustOnFirstUse: true };
  const nodes = await named(flags.nodes, flags, context);
  const { signal } = context;
  return nodes.map(({ node, address }) => ({ node, client: connect(address, authentication), call: { signal } }));
}

async function configuredTargets(flags: TargetFlags, context: CommandContext): Promise<Target[]> {
  const { credentials, ...talos } = await talosContext(flags, context);
  const endpoints = endpointsOf(flags, talos, context);
  const nodes = await nodesOf(flags, talos, context);
  if (nodes.length === 0) throw noNodes();
  return nodes.map(({ node, address }) => {
    const endpoint = endpoints.includes(address) ? address : (endpoints[0] ?? address);
    const client = connect(endpoint, { kind: "mtls", credentials });
    return { node, client, call: given({ signal: context.signal, node: endpoint === address ? undefined : address }) };
  });
}

/** The context of the talosconfig that a command uses. Throws where it has no client certificate. */
export async function talosContext(flags: TargetFlags, context: CommandContext): Promise<Access> {
  const { environment } = chosenIn(flags, context);
  const [path, config] =
    environment === undefined || flags.talosconfig !== undefined
      ? await foundTalosconfig(flags, context)
      : await environmentTalosconfig(environment, context);
  const name = flags.context ?? config.context ?? "";
  const found = config.contexts.get(name);
  if (found?.credentials === undefined) {
    throw new TalosError("not-found", `${path}: no context "${name}" with a client certificate`, {
      hint: `It has: ${[...config.contexts.keys()].join(", ") || "none"}. Choose one with --context.`,
    });
  }
  return { ...found, credentials: found.credentials };
}

type FoundTalosconfig = readonly [path: string, config: Talosconfig];

async function foundTalosconfig(flags: TargetFlags, context: CommandContext): Promise<FoundTalosconfig> {
  const path = flags.talosconfig ?? (await findTalosconfig(context.env));
  const config = await readTalosconfig(path).catch((error: unknown) => {
    throw withDeployedHere(error, context);
  });
  return [path, config];
}

/** The file that a deploy has left; where it is missing, as in a colleague's clone, one is made of the secrets. */
async function environmentTalosconfig(name: string, context: CommandContext): Promise<FoundTalosconfig> {
  const workspace = openWorkspace(name, context);
  await workspace.clientFiles.fetch();
  const path = workspace.clientFiles.paths.talosconfig;
  const file = join(workspace.root, path);
  if (existsSync(file)) return [path, await readTalosconfig(file)];
  const { desired, secrets } = await workspace.deployed();
  return [path, parseTalosconfig(talosconfigText(desired, secrets, context), path)];
}

/** Who has just deployed a cluster has its talosconfig, only not where talosctl looks for one. */
function withDeployedHere(error: unknown, context: CommandContext): unknown {
  if (!(error instanceof TalosError) || error.code !== "not-found") return error;
  const { cwd, env } = context;
  const found = environmentsHere(context)
    .filter((name) => existsSync(join(projectRoot(cwd, env), clientFilePaths(name).talosconfig)))
    .map((name) => `-e ${name}`);
  if (found.length === 0) return error;
  return new TalosError(error.code, `no environment is named; deployed here: ${found.join(", or ")}`, {
    hint: `Without -e the talosconfig of talosctl is read: ${error.message}`,
    cause: error,
  });
}

function noNodes(): TalosError {
  return new TalosError("invalid-input", "nodes are not set for the command", {
    hint: "Name the machines with -n, or the nodes of the context in the talosconfig.",
  });
}
