// SPDX-License-Identifier: Apache-2.0
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DesiredCluster, fetchKubeconfig } from "../engine/index.ts";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { type ClientIdentity, expiryOf, kubeconfigParts } from "../talos/client-file.ts";
import {
  encodeTalosconfig,
  generateTalosconfig,
  kubeconfigIsCurrent,
  parseTalosconfig,
  type Role,
  talosAccess,
  talosconfigIsCurrent,
} from "../talos/config/index.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import type { WorkspaceContext } from "./context.ts";
import { environmentSecret } from "./environment-secret.ts";

/** Relative to the project's root, as they are shown and as the provider writes them. */
export function clientFiles(environment: string): { readonly kubeconfig: string; readonly talosconfig: string } {
  const folder = join("generated", environment);
  return { kubeconfig: join(folder, "kubeconfig"), talosconfig: join(folder, "talosconfig") };
}

/** Writes a file that is missing, for other machines, or soon at its end; others stay. How many it has written. */
export async function ensureClientFiles(
  root: string,
  environment: string,
  desired: DesiredCluster,
  secrets: SecretsBundle,
  context: WorkspaceContext,
): Promise<number> {
  await fetchClientFiles(root, environment, context);
  const files = clientFiles(environment);
  const now = context.clock.now();
  const onDisk = async (file: string) => (await readIfThere(join(root, file))) ?? "";
  const access = { clusterName: desired.name, ...talosAccess(desired) };
  const lasting = new Set<string>();
  if (talosconfigIsCurrent(await onDisk(files.talosconfig), access, secrets, now)) lasting.add("talosconfig");
  if (kubeconfigIsCurrent(await onDisk(files.kubeconfig), secrets, now)) lasting.add("kubeconfig");
  if (!lasting.has("talosconfig")) {
    await writeFileAtomically(join(root, files.talosconfig), talosconfigText(desired, secrets, context));
  }
  if (!lasting.has("kubeconfig")) {
    const kubeconfig = await fetchKubeconfig({ desired, secrets, signal: context.signal });
    await writeFileAtomically(join(root, files.kubeconfig), kubeconfig);
  }
  if (lasting.size < 2) await keepClientFiles(root, environment, context);
  return 2 - lasting.size;
}

/** In a cluster: puts onto the disk what its Secret has and the disk has not. */
export async function fetchClientFiles(
  root: string,
  environment: string,
  { env }: Pick<WorkspaceContext, "env">,
): Promise<void> {
  const secret = environmentSecret(environment, env);
  if (secret === undefined) return;
  for (const [key, file] of Object.entries(clientFiles(environment))) {
    if ((await readIfThere(join(root, file))) !== undefined) continue;
    const text = await secret.read(key);
    if (text !== undefined) await writeFileAtomically(join(root, file), text);
  }
}

/** In a cluster: the disk goes with the pod, the Secret stays. */
async function keepClientFiles(
  root: string,
  environment: string,
  { env }: Pick<WorkspaceContext, "env">,
): Promise<void> {
  const secret = environmentSecret(environment, env);
  if (secret === undefined) return;
  for (const [key, file] of Object.entries(clientFiles(environment))) {
    const text = await readIfThere(join(root, file));
    if (text !== undefined && text !== (await secret.read(key))) await secret.write(key, text);
  }
}

/** Whom a talosconfig is for, and how long. */
export interface TalosconfigLimits {
  /** @default os:admin */
  readonly roles?: readonly Role[];
  /** Milliseconds. @default a year */
  readonly ttl?: number;
}

/** A talosconfig that reaches every machine through the control planes. */
export function talosconfigText(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  { clock, entropy }: Pick<WorkspaceContext, "clock" | "entropy">,
  limits: TalosconfigLimits = {},
): string {
  const talosconfig = generateTalosconfig(secrets, {
    clusterName: desired.name,
    ...talosAccess(desired),
    ...limits,
    clock,
    entropy,
  });
  return encodeTalosconfig(talosconfig);
}

/** A client file on disk, and when it stops to work. */
export interface ClientCertificate {
  readonly name: "kubeconfig" | "talosconfig";
  readonly expiresAt: Date;
  readonly identity: ClientIdentity;
}

/** The certificates in the files on disk; a file that holds none is as good as not there. */
export async function clientCertificates(root: string, environment: string): Promise<readonly ClientCertificate[]> {
  const files = clientFiles(environment);
  const found: ClientCertificate[] = [];
  for (const name of ["kubeconfig", "talosconfig"] as const) {
    const text = await readIfThere(join(root, files[name]));
    const identity = text === undefined ? undefined : identityIn(name, text);
    if (identity !== undefined) found.push({ name, expiresAt: expiryOf(identity.certificate), identity });
  }
  return found;
}

function identityIn(name: ClientCertificate["name"], text: string): ClientIdentity | undefined {
  try {
    if (name === "talosconfig") {
      const { context, contexts } = parseTalosconfig(text, name);
      return contexts.get(context)?.credentials;
    }
    const { caCertificate: ca, clientCertificate: certificate } = kubeconfigParts(text);
    return { ca, certificate };
  } catch {
    return undefined; // Not a file as Talos or we write it.
  }
}

export async function removeClientFiles(root: string, environment: string): Promise<void> {
  for (const file of Object.values(clientFiles(environment))) await rm(join(root, file), { force: true });
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
