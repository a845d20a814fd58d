// SPDX-License-Identifier: Apache-2.0
import { registerAddon } from "./commands/addon.ts";
import { registerAdopt } from "./commands/adopt.ts";
import { registerBackup } from "./commands/backup.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerConfig } from "./commands/config.ts";
import { registerDashboard } from "./commands/dashboard.ts";
import { registerDeploy } from "./commands/deploy.ts";
import { registerDestroy } from "./commands/destroy.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerGen } from "./commands/gen.ts";
import { registerHealth } from "./commands/health.ts";
import { registerImage } from "./commands/image.ts";
import { registerInit } from "./commands/init.ts";
import { registerClientFiles } from "./commands/kubeconfig.ts";
import { registerMachine } from "./commands/machine.ts";
import { registerOperate } from "./commands/operate.ts";
import { registerPlan } from "./commands/plan.ts";
import { registerProvider } from "./commands/provider.ts";
import { registerRestore } from "./commands/restore.ts";
import { registerReview } from "./commands/review.ts";
import { registerRotateCa } from "./commands/rotate-ca.ts";
import { registerSim } from "./commands/sim.ts";
import { registerStatus } from "./commands/status.ts";
import { registerSupport } from "./commands/support.ts";
import { registerSynth } from "./commands/synth.ts";
import { registerTopology } from "./commands/topology.ts";
import { registerUi } from "./commands/ui.ts";
import { registerUnlock } from "./commands/unlock.ts";
import { registerUp } from "./commands/up.ts";
import { registerUpgrade } from "./commands/upgrade.ts";
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
