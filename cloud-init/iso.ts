// SPDX-License-Identifier: Apache-2.0
import { createHash, type Hash } from "node:crypto";
import { TalosError } from "../talos/errors.ts";
import {
  bothEndian16,
  bothEndian32,
  fileEntries,
  IsoBytes,
  rockRidgeReference,
  rootEntries,
  sectorSize,
} from "./iso-bytes.ts";

/** A file in the root of the image. */
export interface IsoFile {
  /** As the reader sees it, through Rock Ridge and Joliet alike. */
  readonly name: string;
  readonly content: Uint8Array;
}

interface Placed extends IsoFile {
  readonly sector: number;
}

/** One of the two descriptions of the files that an image has. */
interface Tree {
  readonly type: number;
  /** Its sectors. */
  readonly at: Readonly<Record<"descriptor" | "tableL" | "tableM" | "root", number>>;
  readonly text: (label: string) => Uint8Array;
  readonly padding: string;
  /** Escape sequence of the character set. */
  readonly encoding: string;
  readonly identifier: (name: string) => Uint8Array;
  readonly systemUse: (name: string | undefined, parent: boolean) => Uint8Array;
}

const ascii = (text: string) => Buffer.from(text, "latin1");
const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16();

// All that stands before the files has one sector each, which the checks below keep true.
const terminator = 18;
const rockRidgeArea = 24;
const firstFile = 26;

const trees: readonly Tree[] = [
  {
    type: 1,
    at: { descriptor: 16, tableL: 19, tableM: 20, root: 23 },
    text: ascii,
    padding: " ",
    encoding: "",
    // ISO 9660 names have capital letters, digits and underscores; the real name is in the extensions.
    identifier: (name) => ascii(`${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}.;1`),
    systemUse: (name, parent) =>
      name === undefined ? rootEntries(parent, rockRidgeArea, rockRidgeReference.length) : fileEntries(name),
  },
  {
    type: 2,
    at: { descriptor: 17, tableL: 21, tableM: 22, root: 25 },
    text: ucs2,
    padding: "\0 ",
    encoding: "%/E",
    identifier: ucs2,
    systemUse: () => new Uint8Array(),
  },
];

/**
 * An ISO 9660 image with Rock Ridge and Joliet, the files in its root. The same input always gives the same bytes: the
 * order is by name and every date is the same, long ago.
 */
export function createIso(label: string, files: readonly IsoFile[]): Uint8Array {
  const { head, placed, sectors } = layOut(label, files);
  const image = new IsoBytes(sectors);
  image.write(0, 0, head);
  for (const file of placed) image.write(file.sector, 0, file.content);
  return image.bytes;
}

/** Lower-case hex SHA-256 of that image, which a thousand of them need not be made for. */
export function hashIso(label: string, files: readonly IsoFile[]): string {
  const { headHash, placed } = layOut(label, files);
  const hash = headHash.copy();
  for (const { content } of placed) {
    hash.update(content);
    hash.update(zeros.subarray(0, sectorsFor(content) * sectorSize - content.length));
  }
  return hash.digest("hex");
}

const zeros = new Uint8Array(sectorSize);

interface Head {
  /** All that stands before the files. */
  readonly head: Uint8Array;
  readonly headHash: Hash;
}

/** By what they depend on: names and sizes of files, which images of one kind have in common. */
const heads = new Map<string, Head>();

function layOut(label: string, files: readonly IsoFile[]) {
  if (!/^[A-Za-z0-9_-]{1,16}$/.test(label))
    throw new TalosError("invalid-input", `found the volume label ${JSON.stringify(label)}, expected 1 to 16 letters`);
  const placed = place(files);
  const last = placed.at(-1);
  const sectors = last === undefined ? firstFile : last.sector + sectorsFor(last.content);
  const key = [label, ...placed.map(({ name, content }) => `${name} ${content.length}`)].join();
  const known = heads.get(key) ?? writeHead(label, placed, sectors);
  heads.set(key, known);
  return { ...known, placed, sectors };
}

function writeHead(label: string, placed: readonly Placed[], sectors: number): Head {
  const image = new IsoBytes(firstFile);
  for (const tree of trees) {
    writeDescriptor(image, tree, label, sectors);
    writePathTables(image, tree.at);
    writeDirectory(image, tree, placed);
  }
  image.write(terminator, 0, [255, ...ascii("CD001"), 1]);
  image.write(rockRidgeArea, 0, rockRidgeReference);
  return { head: image.bytes, headHash: createHash("sha256").update(image.bytes) };
}

const sectorsFor = (content: Uint8Array) => Math.ceil(content.length / sectorSize);

function place(files: readonly IsoFile[]): readonly Placed[] {
  const sorted = [...files].sort((left, right) => (left.name < right.name ? -1 : 1));
  const seen = new Set<string>();
  let sector = firstFile;
  return sorted.map((file) => {
    const short = file.name.toUpperCase();
    if (!/^[A-Za-z0-9_-]{1,28}$/.test(file.name) || seen.has(short))
      throw new TalosError(
        "invalid-input",
        `found the file name ${JSON.stringify(file.name)}, expected plain, different names`,
      );
    seen.add(short);
    const at = sector;
    sector += sectorsFor(file.content);
    return { ...file, sector: at };
  });
}

function writeDescriptor(image: IsoBytes, tree: Tree, label: string, sectors: number): void {
  const { type, at, padding, encoding } = tree;
  const sector = at.descriptor;
  const blank = (length: number) => ascii(padding.repeat(length).slice(0, length));
  const text = (offset: number, length: number, content: Uint8Array = new Uint8Array()) =>
    image.write(sector, offset, [...content, ...blank(length - content.length)]);
  image.write(sector, 0, [type, ...ascii("CD001"), 1]);
  text(8, 32);
  text(40, 32, tree.text(label));
  image.write(sector, 80, bothEndian32(sectors));
  image.write(sector, 88, ascii(encoding));
  image.write(sector, 120, bothEndian16(1));
  image.write(sector, 124, bothEndian16(1));
  image.write(sector, 128, bothEndian16(sectorSize));
  image.write(sector, 132, bothEndian32(pathTableSize));
  image.writeUint32(sector, 140, at.tableL, "little");
  image.writeUint32(sector, 148, at.tableM, "big");
  image.write(sector, 156, record(Uint8Array.of(0), tree.at.root, sectorSize, true, new Uint8Array()));
  // Volume set, publisher, preparer, application, then three file names: all blank.
  for (const offset of [190, 318, 446, 574]) text(offset, 128);
  for (const offset of [702, 739, 776]) text(offset, 37);
  const never = [...ascii("0".repeat(16)), 0];
  const created = [...ascii("1980010100000000"), 0];
  image.write(sector, 813, [...created, ...created, ...never, ...never, 1]);
}

const pathTableSize = 10;

function writePathTables(image: IsoBytes, { tableL, tableM, root }: Tree["at"]): void {
  image.write(tableL, 0, [1, 0]);
  image.writeUint32(tableL, 2, root, "little");
  image.write(tableL, 6, [1, 0, 0, 0]);
  image.write(tableM, 0, [1, 0]);
  image.writeUint32(tableM, 2, root, "big");
  image.write(tableM, 6, [0, 1, 0, 0]);
}

function writeDirectory(image: IsoBytes, tree: Tree, files: readonly Placed[]): void {
  const records = [
    record(Uint8Array.of(0), tree.at.root, sectorSize, true, tree.systemUse(undefined, false)),
    record(Uint8Array.of(1), tree.at.root, sectorSize, true, tree.systemUse(undefined, true)),
    ...files.map(({ name, sector, content }) =>
      record(
        tree.identifier(name),
        content.length === 0 ? 0 : sector,
        content.length,
        false,
        tree.systemUse(name, false),
      ),
    ),
  ];
  const bytes = Buffer.concat(records);
  if (bytes.length > sectorSize)
    throw new TalosError(
      "invalid-input",
      `found ${files.length} files, expected as many as fit in one directory sector`,
    );
  image.write(tree.at.root, 0, bytes);
}

function record(
  identifier: Uint8Array,
  sector: number,
  size: number,
  folder: boolean,
  systemUse: Uint8Array,
): Uint8Array {
  const padding = identifier.length % 2 === 0 ? [0] : [];
  const date = [80, 1, 1, 0, 0, 0, 0];
  const body = [
    0,
    ...bothEndian32(sector),
    ...bothEndian32(size),
    ...date,
    folder ? 2 : 0,
    0,
    0,
    ...bothEndian16(1),
    identifier.length,
    ...identifier,
    ...padding,
    ...systemUse,
  ];
  const length = body.length + 1;
  const even = length % 2 === 0 ? [] : [0];
  return Uint8Array.from([length + even.length, ...body, ...even]);
}
