// SPDX-License-Identifier: Apache-2.0

/** What happens when a machine that is going down is down. */
type Next = "boot" | "off";

/** Which parts of the disk a reset wipes. */
export interface Wipe {
  readonly state: boolean;
  readonly ephemeral: boolean;
  readonly meta: boolean;
  /** The whole system disk, boot loader included: the machine starts from its image again. */
  readonly everything: boolean;
}

/**
 * Where a machine is in its life.
 * - `off`: no power; only a person or a fault's end brings it back
 * - `starting`: firmware, boot loader, kernel; nothing listens
 * - `maintenance`: no config yet; the API listens without client certificates
 * - `installing`: has a config, writes itself to disk, then reboots; nothing listens
 * - `booting`: services come up, the API listens as soon as it has a certificate
 * - `running`: the boot sequence is over
 * - `stopping`: services go down, the API still answers; `stage` is what the machine calls it
 */
export type Life =
  | { readonly stage: "off" }
  | { readonly stage: "starting"; readonly until: number }
  | { readonly stage: "maintenance" }
  | { readonly stage: "installing"; readonly until: number }
  | { readonly stage: "booting"; readonly since: number }
  | { readonly stage: "running"; readonly since: number }
  | {
      readonly stage: "stopping";
      readonly sequence: "reboot" | "shutdown" | "reset" | "upgrade";
      readonly actor: string;
      readonly until: number;
      /** When services are stopped; absent once they are. Pods are drained and stopped before. */
      readonly servicesUntil?: number;
      readonly next: Next;
      readonly wipe?: Wipe;
      /** Reset and upgrade of a control plane: leave etcd first. */
      readonly leaveEtcd?: boolean;
      readonly install?: { readonly release: string; readonly image: string };
    };

/** The stage's name in MachineStatus and in events. */
export function stageName(life: Life): string {
  switch (life.stage) {
    case "off":
      return "unknown";
    case "starting":
      return "booting";
    case "stopping":
      return { reboot: "rebooting", shutdown: "shutting down", reset: "resetting", upgrade: "upgrading" }[
        life.sequence
      ];
    default:
      return life.stage;
  }
}

/** True while services may run. */
export function isUp(life: Life): boolean {
  return life.stage === "booting" || life.stage === "running";
}

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

interface ServiceEvent {
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

/** The services that run, with their ids. */
export function runningServices({
  services,
}: {
  readonly services: Readonly<Record<string, ServiceState>>;
}): readonly (ServiceState & { readonly id: string })[] {
  return Object.entries(services).flatMap(([id, service]) => (service.stage === "Running" ? [{ id, ...service }] : []));
}

export function isHealthy(service: ServiceState | undefined): boolean {
  return service?.stage === "Running" && service.health === "healthy";
}
