// SPDX-License-Identifier: Apache-2.0
import type { Target } from "../target.ts";
import { cloudInitTarget } from "./cloud-init.ts";
import { environmentTarget } from "./environment.ts";
import { machineConfigTarget } from "./machine-config.ts";
import { patchTarget } from "./patch.ts";
import { providerMessageTarget } from "./provider-message.ts";

export const targets: readonly Target[] = [
  environmentTarget,
  patchTarget,
  machineConfigTarget,
  providerMessageTarget,
  cloudInitTarget,
];
