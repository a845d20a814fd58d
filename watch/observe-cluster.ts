// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import {
  type DesiredMachine,
  type ObservedCluster,
  previewCluster,
  refusals,
  type Step,
  type Unready,
  usesKubernetes,
  windowAt,
} from "../engine/index.ts";
import { endsSoon } from "../talos/client-file.ts";
import { given } from "../talos/given.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import { type BackupStatus, backupStatus } from "../workspace/backups.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Observes a cluster that is open: machines, what is left to do, certificates, backups. */
export async function observeCluster(
  workspace: Workspace,
  backupFacts: () => Promise<BackupStatus | undefined> = () => backupStatus(workspace),
): Promise<ClusterObservation> {
  const options = await workspace.engineOptions();
  const { desired, secrets } = options;
  const [preview, files, backup] = await Promise.all([
    previewCluster(options),
    workspace.clientFiles.certificates(),
    backupFacts(),
  ]);
  const refused = refusals(preview).map(({ message }) => message);
  return {
    machines: desired.machines,
    observed: preview.observed,
    steps: preview.steps,
    unready: preview.unready,
    kubernetes: usesKubernetes(options.policy),
    certificates: [...files.map((file) => ({ ...file, renewable: true })), ...authorities(secrets)],
    ...given({
      backup,
      obstacle: refused.length === 0 ? undefined : refused.join("; "),
      closed: closedWindow(workspace),
    }),
  };
}

/** Undefined while nothing waits for a maintenance window. */
export function closedWindow({
  environment: { rollout },
  context: { clock },
}: Workspace): ClusterObservation["closed"] {
  const state = windowAt(rollout.windows, clock.now());
  return rollout.windows.length === 0 || state.open ? undefined : given({ opens: state.opens });
}

/** The public halves of the cluster's CAs. */
function authorities({ certs }: SecretsBundle): readonly CertificateFacts[] {
  const named = {
    "talos-ca": certs.os,
    "kubernetes-ca": certs.k8s,
    "etcd-ca": certs.etcd,
    "aggregator-ca": certs.k8sAggregator,
  };
  return Object.entries(named).map(([name, { certificate }]) => ({
    name,
    expiresAt: new Date(new X509Certificate(certificate).validTo),
    renewable: false,
  }));
}

interface CertificateFacts {
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
  /** What does not work of what is there. @default nothing */
  readonly unready?: readonly Unready[];
  readonly certificates: readonly CertificateFacts[];
  /** Absent where the environment has no section `backup`. */
  readonly backup?: BackupStatus;
  /** Why only a person may change it, such as a Terraform state that is not in this project. */
  readonly obstacle?: string;
  /** "terraform" or "tofu", where a repair is planned and applied by it. Absent: the engine repairs. */
  readonly manager?: string;
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
