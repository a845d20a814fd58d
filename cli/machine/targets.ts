// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { lockFileFor, withLock } from "../../engine/index.ts";
import { type Authentication, type CallOptions, connect, type TalosClient } from "../../talos/api/index.ts";
import { findTalosconfig, readTalosconfig, type TalosContext } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { publicKeyFingerprint } from "../../talos/pki/index.ts";
import { clientFilePaths } from "../../workspace/client-files.ts";
import { environmentsHere, projectRoot } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";
import type { TargetFlags } from "./target-flags.ts";

/** One machine that a command is for. */
export interface Target {
  /** As the user wrote it. */
  readonly node: string;
  readonly client: TalosClient;
  /** For every call: who it is for, and when to stop. */
  readonly call: CallOptions;
}

/** Lends the work a connection to each machine; they are closed whatever happens. */
export async function withTargets(
  flags: TargetFlags,
  context: CommandContext,
  work: (targets: readonly Target[]) => Promise<void>,
): Promise<void> {
  const targets = flags.insecure ? maintenanceTargets(flags, context) : await configuredTargets(flags, context);
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

/** The same for work that changes something: no other run of ours may work on this cluster meanwhile. */
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
  if (flags.insecure) return flags.nodes;
  const talos = await talosContext(flags, context);
  return nodesOf(flags, talos);
}

const endpointsOf = (flags: TargetFlags, talos: TalosContext) =>
  flags.endpoints.length > 0 ? flags.endpoints : talos.endpoints;
const nodesOf = (flags: TargetFlags, talos: TalosContext) =>
  flags.nodes.length > 0 ? flags.nodes : (talos.nodes ?? endpointsOf(flags, talos));

function maintenanceTargets(flags: TargetFlags, { signal }: CommandContext): Target[] {
  if (flags.nodes.length === 0) throw noNodes();
  const authentication: Authentication =
    flags.certFingerprint.length > 0
      ? { kind: "maintenance", fingerprints: flags.certFingerprint }
      : { kind: "maintenance", trustOnFirstUse: true };
  return flags.nodes.map((node) => ({ node, client: connect(node, authentication), call: { signal } }));
}

async function configuredTargets(flags: TargetFlags, context: CommandContext): Promise<Target[]> {
  const { credentials, ...talos } = await talosContext(flags, context);
  const endpoints = endpointsOf(flags, talos);
  const nodes = nodesOf(flags, talos);
  if (nodes.length === 0) throw noNodes();
  return nodes.map((node) => {
    const endpoint = endpoints.includes(node) ? node : (endpoints[0] ?? node);
    const client = connect(endpoint, { kind: "mtls", credentials });
    return { node, client, call: given({ signal: context.signal, node: endpoint === node ? undefined : node }) };
  });
}

async function talosContext(
  flags: TargetFlags,
  context: CommandContext,
): Promise<TalosContext & { readonly credentials: NonNullable<TalosContext["credentials"]> }> {
  const path = flags.talosconfig ?? (await findTalosconfig(context.env));
  const config = await readTalosconfig(path).catch((error: unknown) => {
    throw withDeployedHere(error, context);
  });
  const name = flags.context ?? config.context ?? "";
  const found = config.contexts.get(name);
  if (found?.credentials === undefined) {
    throw new TalosError("not-found", `${path}: no context "${name}" with a client certificate`, {
      hint: `It has: ${[...config.contexts.keys()].join(", ") || "none"}. Choose one with --context.`,
    });
  }
  return { ...found, credentials: found.credentials };
}

/** Who has just deployed a cluster has its talosconfig, only not where talosctl looks for one. */
function withDeployedHere(error: unknown, context: CommandContext): unknown {
  if (!(error instanceof TalosError) || error.code !== "not-found") return error;
  const { cwd, env } = context;
  const found = environmentsHere(context)
    .map((name) => join(projectRoot(cwd, env), clientFilePaths(name).talosconfig))
    .filter((path) => existsSync(path))
    .map((path) => `--talosconfig ${relative(cwd, path)}`);
  if (found.length === 0) return error;
  return new TalosError(error.code, error.message, { hint: `Deployed here: ${found.join(", or ")}`, cause: error });
}

function noNodes(): TalosError {
  return new TalosError("invalid-input", "nodes are not set for the command", {
    hint: "Name the machines with -n, or the nodes of the context in the talosconfig.",
  });
}
