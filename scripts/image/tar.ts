// SPDX-License-Identifier: Apache-2.0
// A layer of an image as tar: the same files always give the same bytes.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface TarEntry {
  /** Path in the image, without a slash at its beginning. */
  readonly path: string;
  /** Undefined: a folder. */
  readonly content?: Buffer;
  readonly mode: number;
  /** User and group. @default 0 */
  readonly owner?: number;
}

/** Everything below a folder or the file itself, sorted, at `to` in the image. Links are not followed, and left out. */
export function entriesOf(from: string, to: string): readonly TarEntry[] {
  const facts = lstatSync(from);
  if (facts.isFile()) return [{ path: to, content: readFileSync(from), mode: facts.mode & 0o111 ? 0o755 : 0o644 }];
  if (!facts.isDirectory()) return [];
  const inside = readdirSync(from)
    .sort()
    .flatMap((name) => entriesOf(join(from, name), `${to}/${name}`));
  return [{ path: to, mode: 0o755 }, ...inside];
}

const block = 512;

/** Folders above an entry are made where none is listed. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const listed = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path } of entries)
    for (let above = parentOf(path); above !== ""; above = parentOf(above))
      if (!listed.has(above)) listed.set(above, { path: above, mode: 0o755 });
  const sorted = [...listed.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return Buffer.concat([...sorted.flatMap(partsOf), Buffer.alloc(2 * block)]);
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function partsOf({ path, content, mode, owner = 0 }: TarEntry): readonly Buffer[] {
  const name = content === undefined ? `${path}/` : path;
  const type = content === undefined ? "5" : "0";
  const size = content?.length ?? 0;
  const long = Buffer.byteLength(name) > 100 ? paxOf(name) : [];
  return [...long, header({ name, type, size, mode, owner }), ...padded(content ?? Buffer.alloc(0))];
}

/** A name that the header has no room for stands in a header of its own. */
function paxOf(name: string): readonly Buffer[] {
  const rest = ` path=${name}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
  const record = Buffer.from(`${length}${rest}`);
  return [header({ name: "PaxHeader", type: "x", size: record.length, mode: 0o644, owner: 0 }), ...padded(record)];
}

const padded = (content: Buffer) => [content, Buffer.alloc((block - (content.length % block)) % block)];

interface Header {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly mode: number;
  readonly owner: number;
}

function header({ name, type, size, mode, owner }: Header): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number) =>
    bytes.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  bytes.write(name.slice(0, 100), 0);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.fill(" ", 148, 156);
  bytes.write(type, 156);
  bytes.write("ustar\x0000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}
