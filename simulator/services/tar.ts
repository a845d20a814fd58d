// SPDX-License-Identifier: Apache-2.0

/** One ustar entry: its header and its content, padded to whole blocks when something follows. */
export function tarEntry(name: string, content: Buffer, now: number, padded: boolean): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(Math.floor(now / 1_000), 12), 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = padded ? Buffer.alloc((512 - (content.length % 512)) % 512) : Buffer.alloc(0);
  return Buffer.concat([header, content, padding]);
}
