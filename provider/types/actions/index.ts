// SPDX-License-Identifier: Apache-2.0
// What Terraform can do by itself or around a change, without a state.
import { defragment } from "./etcd-defragment.ts";
import { takeSnapshot } from "./etcd-snapshot.ts";
import { drain, reboot, uncordon } from "./maintenance.ts";
import { restoreDrill } from "./restore-drill.ts";
import { rotateClientFiles } from "./rotate-client-files.ts";
import { upgradeCheck } from "./upgrade-check.ts";

export const actions = [
  takeSnapshot,
  defragment,
  drain,
  reboot,
  restoreDrill,
  rotateClientFiles,
  uncordon,
  upgradeCheck,
] as const;
