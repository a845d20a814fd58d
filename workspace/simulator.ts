// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type SimulatorControl, simulatorAt } from "../simulator/control/index.ts";
import { isExecutable, packageRoot } from "../talos/own-files.ts";

/** The project's simulator: the same one that the provider uses. */
export function projectSimulator(root: string): SimulatorControl {
  return simulatorIn(simulatorDirectory(root));
}

/** A simulator of its own. */
export function simulatorIn(directory: string): SimulatorControl {
  return simulatorAt(directory, { daemonCommand: daemonCommand() });
}

export function simulatorDirectory(root: string): string {
  return join(root, "generated", ".simulator");
}

function daemonCommand(): readonly [string, ...string[]] {
  if (isExecutable()) return [process.execPath, "simulator-daemon.cjs"];
  const source = join(packageRoot(), "simulator", "daemon.ts");
  if (existsSync(source)) return [process.execPath, join(packageRoot(), "scripts", "from-source.js"), source];
  return [process.execPath, join(packageRoot(), "dist", "provider", "simulator-daemon.cjs")];
}
