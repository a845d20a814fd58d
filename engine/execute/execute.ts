// SPDX-License-Identifier: Apache-2.0
import type { Step } from "../step.ts";
import { applyConfig, installConfig, reboot, writeMeta } from "./change.ts";
import { cordon, drain, uncordon } from "./drain.ts";
import { gate, pause } from "./gate.ts";
import { bootstrapEtcd, joinEtcd, joinKubernetes, restoreEtcd, wipeEtcd } from "./join.ts";
import { awaitComponents, pullImages, syncManifests, upgradeKubernetes } from "./kubernetes.ts";
import { deleteNode, forfeitLeadership, removeEtcdMember, reset } from "./leave.ts";
import type { StepContext } from "./step-context.ts";
import { upgradeTalos } from "./talos.ts";

/**
 * Does one step and waits until its effect can be seen. Every one of them looks first: what is done already is not
 * done again, so that a run may be killed anywhere and repeated.
 */
export function execute(step: Step, context: StepContext): Promise<void> {
  switch (step.kind) {
    case "apply-config":
      return step.effect === "install" ? installConfig(step, context) : applyConfig(step, step.effect, context);
    case "write-meta":
      return writeMeta(step, context);
    case "bootstrap-etcd":
      return bootstrapEtcd(step, context);
    case "join-etcd":
      return joinEtcd(step, context);
    case "join-kubernetes":
      return joinKubernetes(step, context);
    case "remove-etcd-member":
      return removeEtcdMember(step, context);
    case "forfeit-leadership":
      return forfeitLeadership(step, context);
    case "pull-installer":
    case "pull-images":
      return pullImages(step, context);
    case "sync-manifests":
      return syncManifests(step, context);
    case "drain":
      return drain(step, context);
    case "cordon":
      return cordon(step, context);
    case "uncordon":
      return uncordon(step, context);
    case "reboot":
      return reboot(step, context);
    case "reset":
      return reset(step, context);
    case "delete-node":
      return deleteNode(step, context);
    case "wipe-etcd":
      return wipeEtcd(step, context);
    case "restore-etcd":
      return restoreEtcd(step, context);
    case "upgrade-talos":
      return upgradeTalos(step, context);
    case "upgrade-kubernetes":
      return upgradeKubernetes(step, context);
    case "await-components":
      return awaitComponents(step, context);
    case "gate":
      return gate(step, context);
    case "pause":
      return pause(step, context);
  }
}
