// SPDX-License-Identifier: Apache-2.0
import { registerAddon } from "./commands/addon.ts";
import { registerBackup } from "./commands/backup.ts";
import { registerConfig } from "./commands/config.ts";
import { registerEtcd } from "./commands/etcd.ts";
import { registerGen } from "./commands/gen.ts";
import { registerImage } from "./commands/image.ts";
import * as inspect from "./commands/inspect.ts";
import * as lifecycle from "./commands/lifecycle.ts";
import { registerMachine, registerMachineLogs } from "./commands/machine.ts";
import { registerOperate } from "./commands/operate.ts";
import * as project from "./commands/project.ts";
import { registerSim } from "./commands/sim.ts";
import type { Registration } from "./program.ts";

/** Every command, in the order in which help lists them. */
export const registrations: readonly Registration[] = [
  project.registerInit,
  project.registerAdopt,
  lifecycle.registerDeploy,
  lifecycle.registerPlan,
  lifecycle.registerDestroy,
  inspect.registerReview,
  project.registerSynth,
  lifecycle.registerUp,
  lifecycle.registerUpgrade,
  lifecycle.registerScale,
  inspect.registerStatus,
  inspect.registerDoctor,
  inspect.registerHealth,
  inspect.registerTopology,
  registerOperate,
  inspect.registerDashboard,
  project.registerUi,
  lifecycle.registerUnlock,
  inspect.registerSupport,
  project.registerClientFiles,
  registerAddon,
  registerBackup,
  lifecycle.registerRestore,
  lifecycle.registerRotateCa,
  registerMachine,
  registerMachineLogs,
  registerEtcd,
  registerGen,
  registerConfig,
  registerImage,
  project.registerProvider,
  registerSim,
  project.registerCompletion,
];
