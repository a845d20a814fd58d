// SPDX-License-Identifier: Apache-2.0

/** What a running machine takes over without a reboot; everything else in the v1alpha1 document needs one. */
const immediate = [
  "debug",
  "cluster",
  "machine.ca",
  "machine.acceptedCAs",
  "machine.time",
  "machine.certSANs",
  "machine.install",
  "machine.network",
  "machine.sysfs",
  "machine.sysctls",
  "machine.logging",
  "machine.controlPlane",
  "machine.kubelet",
  "machine.kernel",
  "machine.registries",
  "machine.pods",
  "machine.seccompProfiles",
  "machine.nodeAnnotations",
  "machine.nodeLabels",
  "machine.nodeTaints",
  "machine.features.kubernetesTalosAPIAccess",
  "machine.features.kubePrism",
  "machine.features.hostDNS",
  "machine.features.imageCache",
  "machine.features.nodeAddressSortAlgorithm",
];

/** Whether a change at this path makes a running machine reboot. Documents beside the v1alpha1 one never do. */
export function needsReboot(kind: string, path: string): boolean {
  if (kind !== "v1alpha1") return false;
  return !immediate.some((prefix) => path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`));
}
