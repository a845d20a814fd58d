// SPDX-License-Identifier: Apache-2.0
import { nearestProject } from "../../model/project-root.ts";

/**
 * What relative paths in attributes are relative to: TALOSMITH_ROOT, else the nearest folder above that has a
 * cdktf.json, else the working directory. A synthesized stack is somewhere below the project that it comes from, and
 * its state must not hold anybody's home directory.
 */
export function findProjectRoot(workingDirectory: string, environment: NodeJS.ProcessEnv): string {
  return nearestProject(workingDirectory, environment) ?? workingDirectory;
}
