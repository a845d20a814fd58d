// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, EventListener, Step } from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";

/** A cluster that was deployed, with what it takes to ask its machines. */
export interface OpenedCluster {
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
}

/** What the page's server needs of the project around it. The command line has it already and lends it. */
export interface Workshop {
  environmentNames(): readonly string[];
  /** Throws with all faults when the file has any. */
  loadEnvironment(name: string): Environment;
  /** Undefined while the environment is not deployed. */
  openCluster(environment: Environment): Promise<OpenedCluster | undefined>;
  /** When the client files on disk stop to work; none where there are no files. */
  clientCertificates(environment: Environment): Promise<readonly { readonly name: string; readonly expiresAt: Date }[]>;
  /** Why this door must not change the environment, such as a Terraform state that owns it. */
  obstacle(environment: Environment): Promise<string | undefined>;
  plan(
    environment: Environment,
    signal: AbortSignal,
  ): Promise<readonly Pick<Step, "id" | "sentence" | "destructive">[]>;
  apply(environment: Environment, events: EventListener, signal: AbortSignal): Promise<void>;
  destroy(environment: Environment, events: EventListener, signal: AbortSignal): Promise<void>;
}
