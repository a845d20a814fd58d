// SPDX-License-Identifier: Apache-2.0
import type { Environment, ReadFile } from "../model/index.ts";
import type { Clock, Entropy } from "../talos/clock.ts";
import type { KeptSecret } from "../talos/secrets/index.ts";

/** Everything that a project on disk needs of the process around it. Nothing in here reads `process`. */
export interface WorkspaceContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the user stands; relative arguments are relative to it. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** Aborted by the first Ctrl-C: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Messages and progress, for people. */
  readonly stderr: { write(text: string): void };
  /** The Secret of an environment by its name, for work on objects of the Kubernetes API. @default - as `env` says */
  readonly keptSecret?: ((environment: string) => KeptSecret) | undefined;
  /** Helm releases on an environment's cluster that its file does not name and that stay: objects ask for them. @default - none */
  readonly otherReleases?: ((environment: string) => readonly ReleaseName[]) | undefined;
}

interface ReleaseName {
  readonly name: string;
  readonly namespace: string;
}

/** One environment of a project on disk: what every part of its workspace is made of. */
export interface EnvironmentOnDisk {
  readonly root: string;
  readonly environment: Environment;
  readonly context: WorkspaceContext;
  /**
   * Texts of files, by path from the root, that `environment` was made of and that are not written yet. A change is
   * planned with them before anyone has approved it. @default - none
   */
  readonly unsaved?: ReadonlyMap<string, string>;
  /** The files as they were when `unsaved` was made of them. @default - as they are on disk */
  readonly before?: ReadFile;
}
