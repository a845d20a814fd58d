// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { previewCluster, refusals, windowAt } from "../engine/index.ts";
import { given } from "../talos/given.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import { backupStatus } from "../workspace/backup-status.ts";
import type { PolicyFlags } from "../workspace/rollout.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BackupFacts, CertificateFacts, ClusterObservation } from "./cluster-observation.ts";

/** Observes a cluster that is open: machines, what is left to do, certificates, backups. */
export async function observeCluster(
  workspace: Workspace,
  flags: PolicyFlags = {},
  backupFacts: () => Promise<BackupFacts | undefined> = () => backupStatus(workspace),
): Promise<ClusterObservation> {
  const options = await workspace.engineOptions(flags);
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
    ...(refused.length === 0 ? {} : { obstacle: refused.join("; ") }),
    certificates: [...files.map((file) => ({ ...file, renewable: true })), ...authorities(secrets)],
    ...given({ backup }),
    ...closedWindow(workspace),
    ...given({ kubernetes: flags.kubernetes }),
  };
}

function closedWindow({ environment: { rollout }, context: { clock } }: Workspace): Pick<ClusterObservation, "closed"> {
  if (rollout.windows.length === 0) return {};
  const state = windowAt(rollout.windows, clock.now());
  if (state.open) return {};
  return { closed: state.opens === undefined ? {} : { opens: state.opens } };
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
