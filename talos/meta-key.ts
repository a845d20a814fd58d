// SPDX-License-Identifier: Apache-2.0

/** Keys of the META partition that Talos keeps for itself, by what it keeps there. */
const ofTalos: ReadonlyMap<number, string> = new Map([
  [6, "the system to boot after an upgrade"],
  [7, "a staged upgrade"],
  [8, "a staged upgrade"],
  [9, "the encryption of STATE"],
  [11, "the code of the config's URL"],
  [16, "the machine's join token"],
  [17, "the bootloader of the image"],
]);

/** Reads a key of META: `10` or `0x0a`, from 0 to 255. Undefined when it is none. */
export function parseMetaKey(text: string): number | undefined {
  if (!/^(\d{1,3}|0x[0-9a-f]{1,2})$/i.test(text)) return undefined;
  const key = Number(text);
  return key <= 255 ? key : undefined;
}

/** What Talos itself uses a key for; undefined when it is free, as 10 (network), 12 to 14 and 15 (UUID) are. */
export function talosUseOfMetaKey(key: number): string | undefined {
  return ofTalos.get(key) ?? (key < 6 ? "the bootloader" : undefined);
}
