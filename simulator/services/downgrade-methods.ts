// SPDX-License-Identifier: Apache-2.0
import {
  EtcdDowngradeCancelResponse,
  EtcdDowngradeEnableResponse,
  EtcdDowngradeValidateResponse,
} from "../../talos/api/gen/machine/etcd.ts";
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { CallError } from "../machine/call-error.ts";
import type { EtcdCluster } from "../machine/etcd-state.ts";
import { etcdVersionOf } from "../machine/release.ts";
import { withCluster, without } from "../machine/world.ts";
import { controlPlaneOnly } from "./control-plane-only.ts";
import { servingMember } from "./etcd-methods.ts";
import type { Call, Handlers } from "./method.ts";

/** The version that the members agree on: major and minor. */
function clusterVersion(call: Call): string {
  return etcdVersionOf(call.machine().talosVersion).split(".").slice(0, 2).join(".");
}

/** etcd goes back by one minor version only. */
function requireTarget(call: Call, target: string): void {
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)/.exec(target) ?? [];
  if (major === "") throw new CallError("InvalidArgument", `failed to parse version "${target}"`);
  if (Number(major) < 3 || (Number(major) === 3 && Number(minor) < 5)) {
    throw new CallError("InvalidArgument", "etcd downgrade is only supported to 3.5 and later versions");
  }
  const [ours = 0, current = 0] = clusterVersion(call).split(".").map(Number);
  if (Number(major) !== ours || Number(minor) !== current - 1) {
    throw new CallError("FailedPrecondition", "etcdserver: invalid downgrade target version");
  }
}

async function check(call: Call, target: string): Promise<void> {
  controlPlaneOnly(call, "etcd downgrade");
  const { etcd } = await servingMember(call);
  requireTarget(call, target);
  if (etcd.downgrade !== undefined) {
    throw new CallError("FailedPrecondition", "etcdserver: cluster has an ongoing downgrade job");
  }
}

async function change(call: Call, edit: (etcd: EtcdCluster) => EtcdCluster): Promise<void> {
  const { cluster, etcd } = await servingMember(call);
  call.simulation.update((world) => withCluster(world, { ...cluster, etcd: edit(etcd) }));
}

export const downgradeMethods: Handlers<typeof MachineServiceService> = {
  async etcdDowngradeValidate(call, { version }) {
    await check(call, version);
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeValidateResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },

  async etcdDowngradeEnable(call, { version }) {
    await check(call, version);
    await change(call, (etcd) => ({ ...etcd, downgrade: version }));
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeEnableResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },

  async etcdDowngradeCancel(call) {
    controlPlaneOnly(call, "etcd downgrade");
    const { etcd } = await servingMember(call);
    if (etcd.downgrade === undefined) {
      throw new CallError("FailedPrecondition", "etcdserver: no inflight downgrade job");
    }
    await change(call, (known) => without(known, "downgrade"));
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeCancelResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },
};
