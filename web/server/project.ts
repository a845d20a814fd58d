// SPDX-License-Identifier: Apache-2.0
import type { EventListener, Policy } from "../../engine/index.ts";
import type { Environment } from "../../model/index.ts";
import type { OtherRun } from "../../workspace/terraform/other-runs.ts";
import type { DeployedCluster } from "../../workspace/workspace.ts";
import type {
  Action,
  BackupsView,
  Disturbance,
  NewCluster,
  Obstacle,
  PlannedStep,
  SimulatedRow,
} from "../shared/wire.ts";

/** A cluster that was deployed, with what it takes to ask its machines. */
export interface OpenedCluster extends Omit<DeployedCluster, "spec"> {
  /** How careful its `rollout` says to be. */
  readonly policy: Policy;
}

/** The project as the web console sees it: workspaces behind an interface that tests replace. */
export interface ConsoleProject {
  environmentNames(): readonly string[];
  /** Throws with all faults when the file has any. */
  loadEnvironment(name: string): Environment;
  /** Undefined while the environment is not deployed. */
  openCluster(environment: Environment): Promise<OpenedCluster | undefined>;
  /** When the client files on disk stop to work; none where there are no files. */
  clientCertificates(environment: Environment): Promise<readonly { readonly name: string; readonly expiresAt: Date }[]>;
  /** Undefined when the environment says nothing of backups. Never throws: not knowing is a state. */
  backups(environment: Environment, signal: AbortSignal): Promise<BackupsView | undefined>;
  /** Undefined unless the machines are simulated. */
  simulatedMachines(environment: Environment): Promise<readonly SimulatedRow[] | undefined>;
  /** What Terraform does to it now, or has done last as far as it was seen. Never throws. */
  elsewhere(environment: Environment): Promise<OtherRun | undefined>;
  /** Undefined where the web console may change what the cluster consists of. */
  obstacle(environment: Environment): Promise<Obstacle | undefined>;
  /** What the action would do now. Throws what is known to stand in its way. */
  plan(environment: Environment, action: Action, signal: AbortSignal): Promise<readonly PlannedStep[]>;
  /** Does it; the answer says in words what came of it, where the steps do not. */
  perform(
    environment: Environment,
    action: Action,
    events: EventListener,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Cuts a simulated machine's power or gives it a fault. */
  disturb(environment: Environment, machine: string, disturbance: Disturbance): Promise<void>;
  /** Writes the file of a new environment of simulated machines. */
  createSimulated(cluster: NewCluster): Promise<void>;
}
