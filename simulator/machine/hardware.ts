// SPDX-License-Identifier: Apache-2.0

/** Every simulated machine has the same parts. */
export const hardware = { cores: 4, memoryKibibytes: 8_126_524, diskBytes: 21_474_836_480 } as const;

/** The kernel that they run, and with what the boot loader starts it. */
export const kernel = {
  version: "6.18.9-talos",
  cmdline: "talos.platform=metal console=tty0 init_on_alloc=1 slab_nomerge pti=on",
} as const;

const mebibyte = 1_024 * 1_024;

/** What Talos wants at least; a little less is let pass, for what firmware keeps to itself. */
export function minimumMemory(type: "controlplane" | "worker"): number {
  return (type === "controlplane" ? 1_848 - 150 : 1_024 - 150) * mebibyte;
}

export const minimumDisk = 6 * 1_024 * mebibyte;
