// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type DesiredCluster, fetchKubeconfig } from "../engine/index.ts";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { type ClientIdentity, expiryOf } from "../talos/client-file.ts";
import {
  type ClientFile,
  clientIdentity,
  currentClientFiles,
  encodeTalosconfig,
  generateTalosconfig,
  type Role,
  talosAccess,
} from "../talos/config/index.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "./context.ts";
import { environmentSecret } from "./secrets.ts";

/** Relative to the project's root, as they are shown and as the provider writes them. */
export function clientFilePaths(environment: string): Readonly<Record<ClientFile, string>> {
  const folder = join("generated", environment);
  return { kubeconfig: join(folder, "kubeconfig"), talosconfig: join(folder, "talosconfig") };
}

/** A client file on disk, and when it stops to work. */
interface ClientCertificate {
  readonly name: ClientFile;
  readonly expiresAt: Date;
  readonly identity: ClientIdentity;
}

/** The kubeconfig and the talosconfig of an environment on disk. */
export class ClientFiles {
  readonly #root: string;
  readonly #environment: string;
  readonly #context: WorkspaceContext;
  /** Relative to the project's root. */
  readonly paths: Readonly<Record<ClientFile, string>>;

  constructor({ root, environment, context }: EnvironmentOnDisk) {
    this.#root = root;
    this.#environment = environment.name;
    this.#context = context;
    this.paths = clientFilePaths(environment.name);
  }

  /** Writes a file that is missing, for other machines, or soon at its end; others stay. How many it has written. */
  async ensure(desired: DesiredCluster, secrets: SecretsBundle): Promise<number> {
    await this.fetch();
    const stale = await this.stale(desired, secrets);
    if (stale.includes("talosconfig"))
      await this.#write("talosconfig", talosconfigText(desired, secrets, this.#context));
    if (stale.includes("kubeconfig"))
      await this.#write("kubeconfig", await fetchKubeconfig({ desired, secrets, signal: this.#context.signal }));
    if (stale.length > 0) await this.#keep();
    return stale.length;
  }

  /** Files that are missing, for other machines, or soon at their end. */
  async stale(desired: DesiredCluster, secrets: SecretsBundle): Promise<readonly ClientFile[]> {
    const texts = { kubeconfig: await this.#read("kubeconfig"), talosconfig: await this.#read("talosconfig") };
    const access = { clusterName: desired.name, ...talosAccess(desired) };
    const current = currentClientFiles(texts, access, secrets, this.#context.clock.now());
    return clientFileNames.filter((name) => !current[name]);
  }

  /** In a cluster: puts onto the disk what its Secret has and the disk has not. */
  async fetch(): Promise<void> {
    const secret = environmentSecret(this.#environment, this.#context);
    if (secret === undefined) return;
    for (const name of clientFileNames) {
      if ((await this.#read(name)) !== undefined) continue;
      const text = await secret.read(name);
      if (text !== undefined) await this.#write(name, text);
    }
  }

  /** The certificates in the files on disk; a file that holds none is as good as not there. */
  async certificates(): Promise<readonly ClientCertificate[]> {
    const found: ClientCertificate[] = [];
    for (const name of clientFileNames) {
      const text = await this.#read(name);
      const identity = text === undefined ? undefined : clientIdentity(name, text);
      if (identity !== undefined) found.push({ name, expiresAt: expiryOf(identity.certificate), identity });
    }
    return found;
  }

  /** The admin kubeconfig on disk, if it is there. Secret. */
  kubeconfig(): Promise<string | undefined> {
    return this.#read("kubeconfig");
  }

  async remove(): Promise<void> {
    for (const name of clientFileNames) await rm(join(this.#root, this.paths[name]), { force: true });
  }

  /** In a cluster: the disk goes with the pod, the Secret stays. */
  async #keep(): Promise<void> {
    const secret = environmentSecret(this.#environment, this.#context);
    if (secret === undefined) return;
    for (const name of clientFileNames) {
      const text = await this.#read(name);
      if (text !== undefined && text !== (await secret.read(name))) await secret.write(name, text);
    }
  }

  #write(name: ClientFile, text: string): Promise<void> {
    return writeFileAtomically(join(this.#root, this.paths[name]), text);
  }

  #read(name: ClientFile): Promise<string | undefined> {
    return textIfThere(join(this.#root, this.paths[name]));
  }
}

export const clientFileNames = ["kubeconfig", "talosconfig"] as const;

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
