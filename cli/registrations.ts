// SPDX-License-Identifier: Apache-2.0
import { registerAddon } from "./commands/addon.ts";
import { registerBackup } from "./commands/backup.ts";
import { registerConfig } from "./commands/config.ts";
import { registerGen } from "./commands/gen.ts";
import { registerImage } from "./commands/image.ts";
import {
  registerDashboard,
  registerDoctor,
  registerHealth,
  registerReview,
  registerStatus,
  registerSupport,
  registerTopology,
} from "./commands/inspect.ts";
import {
  registerDeploy,
  registerDestroy,
  registerPlan,
  registerRestore,
  registerRotateCa,
  registerUnlock,
  registerUp,
  registerUpgrade,
} from "./commands/lifecycle.ts";
import { registerMachine } from "./commands/machine.ts";
import { registerOperate } from "./commands/operate.ts";
import {
  registerAdopt,
  registerClientFiles,
  registerCompletion,
  registerInit,
  registerProvider,
  registerSynth,
  registerUi,
} from "./commands/project.ts";
import { registerSim } from "./commands/sim.ts";
import type { Registration } from "./program.ts";

/** Every command, in the order in which help lists them. */
export const registrations: readonly Registration[] = [
  registerInit,
  registerAdopt,
  registerDeploy,
  registerPlan,
  registerDestroy,
  registerReview,
  registerSynth,
  registerUp,
  registerUpgrade,
  registerStatus,
  registerDoctor,
  registerHealth,
  registerTopology,
  registerOperate,
  registerDashboard,
  registerUi,
  registerUnlock,
  registerSupport,
  registerClientFiles,
  registerAddon,
  registerBackup,
  registerRestore,
  registerRotateCa,
  registerMachine,
  registerGen,
  registerConfig,
  registerImage,
  registerProvider,
  registerSim,
  registerCompletion,
];
