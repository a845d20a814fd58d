// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { type DesiredCluster, fetchKubeconfig } from "../../talos/cluster/index.ts";
import { encodeTalosconfig, generateTalosconfig, type Role } from "../../talos/config/index.ts";
import { type RotatedCa, type SecretsBundle, trustedCas } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { environmentSecret } from "./environment-secret.ts";

/** Relative to the project's root, as they are shown and as the provider writes them. */
export function clientFiles(environment: string): { readonly kubeconfig: string; readonly talosconfig: string } {
  const folder = join("generated", environment);
  return { kubeconfig: join(folder, "kubeconfig"), talosconfig: join(folder, "talosconfig") };
}

/** As the provider does it: early enough that a yearly routine is in time. */
const renewBefore = 30 * 86_400_000;

/** Writes a file that is missing or soon at its end; others stay as they are. How many it has written. */
export async function ensureClientFiles(
  root: string,
  environment: string,
  desired: DesiredCluster,
  secrets: SecretsBundle,
  context: CommandContext,
): Promise<number> {
  await fetchClientFiles(root, environment, context);
  const files = clientFiles(environment);
  const lasting = new Set<string>();
  for (const { name, expiresAt, ...shown } of await clientCertificates(root, environment))
    if (!endsSoon(expiresAt, context) && isOf(secrets, name === "talosconfig" ? "os" : "k8s", shown)) lasting.add(name);
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

/** Whether a file is of the CAs that the cluster has now: they may have been exchanged. */
function isOf(
  secrets: SecretsBundle,
  ca: RotatedCa,
  { certificate, cas }: Pick<ClientCertificate, "certificate" | "cas">,
) {
  const issuer = new X509Certificate(secrets.certs[ca].certificate);
  const wanted = certificatesIn(trustedCas(secrets, ca));
  return certificate.verify(issuer.publicKey) && [...cas].sort().join() === [...wanted].sort().join();
}

/** In a cluster: puts onto the disk what its Secret has and the disk has not. */
export async function fetchClientFiles(
  root: string,
  environment: string,
  { env }: Pick<CommandContext, "env">,
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
async function keepClientFiles(root: string, environment: string, { env }: Pick<CommandContext, "env">): Promise<void> {
  const secret = environmentSecret(environment, env);
  if (secret === undefined) return;
  for (const [key, file] of Object.entries(clientFiles(environment))) {
    const text = await readIfThere(join(root, file));
    if (text !== undefined && text !== (await secret.read(key))) await secret.write(key, text);
  }
}

/** Whether a file with this end is to be written again. */
export function endsSoon(expiresAt: Date, { clock }: Pick<CommandContext, "clock">): boolean {
  return expiresAt.getTime() - clock.now().getTime() < renewBefore;
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
  { clock, entropy }: Pick<CommandContext, "clock" | "entropy">,
  limits: TalosconfigLimits = {},
): string {
  const controlPlanes = desired.machines.filter(({ role }) => role === "controlplane");
  const talosconfig = generateTalosconfig(secrets, {
    clusterName: desired.name,
    endpoints: controlPlanes.map(({ address }) => address),
    nodes: desired.machines.map(({ address }) => address),
    ...limits,
    clock,
    entropy,
  });
  return encodeTalosconfig(talosconfig);
}

/** What a client file proves itself with, and whom it trusts. */
export interface ClientCertificate {
  readonly name: "kubeconfig" | "talosconfig";
  readonly expiresAt: Date;
  readonly certificate: X509Certificate;
  /** Fingerprints. */
  readonly cas: readonly string[];
}

/** The certificates in the files on disk, and with them when they stop to work. */
export async function clientCertificates(root: string, environment: string): Promise<readonly ClientCertificate[]> {
  const files = clientFiles(environment);
  const [kubeconfig, talosconfig] = await Promise.all([
    readIfThere(join(root, files.kubeconfig)),
    readIfThere(join(root, files.talosconfig)),
  ]);
  const certificates = {
    kubeconfig: kubeconfig && /client-certificate-data:\s*(\S+)/.exec(kubeconfig)?.[1],
    talosconfig: talosconfig && /\bcrt:\s*(\S+)/.exec(talosconfig)?.[1],
  };
  const authorities = {
    kubeconfig: kubeconfig && /certificate-authority-data:\s*(\S+)/.exec(kubeconfig)?.[1],
    talosconfig: talosconfig && /\bca:\s*(\S+)/.exec(talosconfig)?.[1],
  };
  return (["kubeconfig", "talosconfig"] as const).flatMap((name) => {
    const encoded = certificates[name];
    if (!encoded) return [];
    const certificate = new X509Certificate(Buffer.from(encoded, "base64"));
    const cas = certificatesIn(Buffer.from(authorities[name] || "", "base64").toString());
    return [{ name, expiresAt: new Date(certificate.validTo), certificate, cas }];
  });
}

/** Fingerprints of the certificates in a PEM text. */
function certificatesIn(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).fingerprint256);
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
