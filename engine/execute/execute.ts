// SPDX-License-Identifier: Apache-2.0
import type { Step, StepOf } from "../step.ts";
import { applyConfig, awaitBoot, installConfig, reboot, shutDown, writeMeta } from "./change.ts";
import { cordon, drain, uncordon } from "./drain.ts";
import { gate, pause } from "./gate.ts";
import { bootstrapEtcd, joinEtcd, joinKubernetes, restoreEtcd, wipeEtcd } from "./join.ts";
import { awaitComponents, pullImages, restartWorkloads, syncManifests, upgradeKubernetes } from "./kubernetes.ts";
import { deleteNode, forfeitLeadership, removeEtcdMember, reset } from "./leave.ts";
import type { StepContext } from "./step-context.ts";
import { upgradeTalos } from "./talos.ts";

type Executors = { readonly [K in Step["kind"]]: (step: StepOf<K>, context: StepContext) => Promise<void> };

const executors: Executors = {
  "apply-config": (step, context) =>
    step.effect === "install" ? installConfig(step, context) : applyConfig(step, step.effect, context),
  "write-meta": writeMeta,
  "bootstrap-etcd": bootstrapEtcd,
  "join-etcd": joinEtcd,
  "join-kubernetes": joinKubernetes,
  "remove-etcd-member": removeEtcdMember,
  "forfeit-leadership": forfeitLeadership,
  "pull-installer": pullImages,
  "pull-images": pullImages,
  "sync-manifests": syncManifests,
  "restart-workloads": restartWorkloads,
  drain,
  cordon,
  uncordon,
  reboot,
  "shut-down": shutDown,
  "await-boot": awaitBoot,
  reset,
  "delete-node": deleteNode,
  "wipe-etcd": wipeEtcd,
  "restore-etcd": restoreEtcd,
  "upgrade-talos": upgradeTalos,
  "upgrade-kubernetes": upgradeKubernetes,
  "await-components": awaitComponents,
  gate,
  pause,
};

/**
 * Does one step and waits until its effect can be seen. Every one of them looks first: what is done already is not
 * done again, so that a run may be killed anywhere and repeated.
 */
export function execute(step: Step, context: StepContext): Promise<void> {
  const executor = executors[step.kind] as (step: Step, context: StepContext) => Promise<void>;
  return executor(step, context);
}
