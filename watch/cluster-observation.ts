// SPDX-License-Identifier: Apache-2.0
import type { DesiredMachine, ObservedCluster, Step } from "../engine/index.ts";
import { endsSoon } from "../talos/client-file.ts";

/** What is known of the newest backup. */
export interface BackupFacts {
  readonly last?: string;
  readonly ageSeconds?: number;
  readonly bytes?: number;
  /** What is wrong; absent when nothing is. */
  readonly problem?: string;
  /** The place could not be read, so that nothing is known. */
  readonly unreadable?: true;
}

export interface CertificateFacts {
  /** Such as `kubeconfig` or `talos-ca`. */
  readonly name: string;
  readonly expiresAt: Date;
  /** Whether the next deploy writes it anew by then. CAs are rotated by a person. */
  readonly renewable: boolean;
}

/** A cluster at one moment: what it should be, what it is, and what would be done about the difference. */
export interface ClusterObservation {
  readonly machines: readonly Pick<DesiredMachine, "name" | "role">[];
  readonly observed: ObservedCluster;
  readonly steps: readonly Step[];
  readonly certificates: readonly CertificateFacts[];
  /** Absent where the environment says nothing of backups. */
  readonly backup?: BackupFacts;
  /** Why only a person may change it, such as a Terraform state that owns it. */
  readonly obstacle?: string;
  /** No maintenance window is open: the next one opens then, or never. Absent: nothing waits for a window. */
  readonly closed?: { readonly opens?: Date };
  /** False where Kubernetes cannot run and is not waited for. @default true */
  readonly kubernetes?: boolean;
}

/** Whether no step can begin while the gates are shut: each is a gate, or comes after one. */
export function allBehindGates(steps: readonly Step[]): boolean {
  const behind = new Set<string>();
  for (const { id, kind, after } of steps)
    if (kind === "gate" || after.some((other) => behind.has(other))) behind.add(id);
  return behind.size === steps.length;
}

/** What the next deploy writes anew because its end is near. */
export function endingFiles({ certificates }: ClusterObservation, now: Date): readonly CertificateFacts[] {
  return certificates.filter(({ renewable, expiresAt }) => renewable && endsSoon(expiresAt, now));
}
