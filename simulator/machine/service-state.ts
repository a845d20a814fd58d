// SPDX-License-Identifier: Apache-2.0

export type ServiceStage =
  | "Initialized"
  | "Preparing"
  | "Waiting"
  | "Running"
  | "Stopping"
  | "Finished"
  | "Failed"
  | "Skipped"
  | "Starting";

export interface ServiceEvent {
  readonly message: string;
  readonly state: ServiceStage;
  readonly at: number;
}

/** One Talos service of a machine, as `talosctl service` shows it. */
export interface ServiceState {
  readonly stage: ServiceStage;
  /** `unknown` until the first health check, and for services that have none. */
  readonly health: "unknown" | "healthy" | "unhealthy";
  readonly lastMessage: string;
  readonly changedAt: number;
  /** Running services turn healthy at this time. */
  readonly healthyAt?: number;
  /** A service that is being restarted does not start before this time. */
  readonly startAt?: number;
  readonly pid: number;
  readonly events: readonly ServiceEvent[];
}

export function isHealthy(service: ServiceState | undefined): boolean {
  return service?.stage === "Running" && service.health === "healthy";
}
