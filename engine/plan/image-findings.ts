// SPDX-License-Identifier: Apache-2.0
import { releaseOfInstaller } from "../../talos/image/index.ts";
import type { DesiredCluster } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { ObservedCluster } from "../observed.ts";

/**
 * Machines that would be installed or upgraded with the installer of another release than the cluster's. One that runs
 * the release already keeps the image in its config: an upgrade by talosctl does not change it.
 */
export function imageFindings(
  { talosVersion, machines }: DesiredCluster,
  observed: ObservedCluster,
): readonly Finding[] {
  const wanted = talosVersion.toString();
  return machines.flatMap(({ name, installImage }) => {
    const release = releaseOfInstaller(installImage);
    const state = observed.machines.get(name)?.state;
    if (release === undefined || release === wanted) return [];
    const isInstalled = state?.kind === "configured" && state.talosVersion === wanted;
    if (isInstalled || (state?.kind !== "configured" && state?.kind !== "maintenance")) return [];
    return [
      {
        severity: "error",
        machine: name,
        message: `${name}: the Talos version is ${wanted}, but its installer image is ${installImage}`,
        hint: `Set installImage, the machine's image or the patch that has it to the image of ${wanted}, or remove it: then it follows from the version. \`talosmith upgrade talos\` changes both.`,
      },
    ];
  });
}
