// SPDX-License-Identifier: Apache-2.0

/** Every simulated machine has the same parts. */
export const hardware = { cores: 4, memoryKibibytes: 8_126_524, diskBytes: 21_474_836_480 } as const;

const mebibyte = 1_024 * 1_024;

/** What Talos wants at least; a little less is let pass, for what firmware keeps to itself. */
export function minimumMemory(type: "controlplane" | "worker"): number {
  return (type === "controlplane" ? 1_848 - 150 : 1_024 - 150) * mebibyte;
}

export const minimumDisk = 6 * 1_024 * mebibyte;
