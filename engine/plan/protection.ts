// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { DesiredCluster } from "../desired.ts";
import type { Finding } from "../events.ts";

type Protected = Pick<DesiredCluster, "name" | "deletionProtection">;

const hint =
  "To remove protected machines, set infrastructure.deletionProtection to false first; with Terraform, apply that before the removal.";

/** Machines that would leave a cluster with deletion protection. */
export function protectionFindings({
  name,
  deletionProtection,
  leaving,
}: Protected & Pick<DesiredCluster, "leaving">): readonly Finding[] {
  if (!deletionProtection) return [];
  return leaving.map((machine) => ({
    severity: "error",
    machine: machine.name,
    message: `cluster ${name} has deletion protection: ${machine.name} cannot be removed`,
    hint,
  }));
}

/** Throws `failed-precondition` for a cluster with deletion protection. */
export function refuseDestroy({ name, deletionProtection }: Protected): void {
  if (!deletionProtection) return;
  throw new TalosError("failed-precondition", `cluster ${name} has deletion protection: it cannot be destroyed`, {
    hint,
  });
}
