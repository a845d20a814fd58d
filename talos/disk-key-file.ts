// SPDX-License-Identifier: Apache-2.0

/** The system volume and the slot that a passphrase is for. */
export interface DiskKey {
  readonly volume: "STATE" | "EPHEMERAL";
  readonly slot: number;
}

/** The name by which a file that holds nothing but a passphrase stands among patch files: `secrets/disk.key#STATE/0`. */
export function diskKeyFile(path: string, { volume, slot }: DiskKey): string {
  return `${path}#${volume}/${slot}`;
}

/** The path of a patch file and, where it is one of those, whose passphrase it holds. */
export function parsePatchFile(name: string): { readonly path: string; readonly key?: DiskKey } {
  const [, path, volume, slot] = /^(.+)#(STATE|EPHEMERAL)\/([0-7])$/.exec(name) ?? [];
  if (path === undefined) return { path: name };
  return { path, key: { volume: volume === "STATE" ? "STATE" : "EPHEMERAL", slot: Number(slot) } };
}
