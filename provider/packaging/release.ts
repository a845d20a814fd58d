// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { startFile } from "./bundle.ts";
import { type ProviderIdentity, platforms } from "./install.ts";

/**
 * What a registry and a filesystem mirror serve: one archive for each platform, their checksums, and the manifest with
 * the plugin protocol. `mirror/` is laid out as `provider_installation { filesystem_mirror }` wants it.
 */
export async function writeRelease(
  directory: string,
  files: ReadonlyMap<string, Buffer>,
  { source, version }: ProviderIdentity,
): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  const mirror = join(directory, "mirror", ...source.split("/"));
  await mkdir(mirror, { recursive: true });
  const archive = createZip([...files].map(([name, content]) => ({ name, content, executable: name === startFile })));
  const type = source.split("/").at(-1) ?? source;
  const assets = new Map<string, Buffer>();
  for (const platform of platforms) {
    const name = `terraform-provider-${type}_${version}_${platform}.zip`;
    assets.set(name, archive);
    await writeFile(join(mirror, name), archive);
  }
  const manifest = { version: 1, metadata: { protocol_versions: ["6.0"] } };
  assets.set(`terraform-provider-${type}_${version}_manifest.json`, Buffer.from(`${JSON.stringify(manifest)}\n`));
  const sums = [...assets]
    .map(([name, content]) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`)
    .join("");
  for (const [name, content] of assets) await writeFile(join(directory, name), content);
  await writeFile(join(directory, `terraform-provider-${type}_${version}_SHA256SUMS`), sums);
}

export interface ZipFile {
  readonly name: string;
  readonly content: Buffer;
  readonly executable: boolean;
}

/** 1980-01-01, the first date that the format knows: an archive says nothing about when it was made. */
const date = 0x21;

/** A zip archive. The same files give the same bytes. */
export function createZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, executable } of files) {
    const data = deflateRawSync(content, { level: 9 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt16LE(date, 8);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = [Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), data];
    parts.push(...local);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(((executable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
    end.writeUInt32LE(offset, 10);
    // Made by unix, so that the mode counts.
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), fields, end, Buffer.from(name));
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const tail = Buffer.alloc(22);
  tail.write("PK\x05\x06", "latin1");
  tail.writeUInt16LE(files.length, 8);
  tail.writeUInt16LE(files.length, 10);
  tail.writeUInt32LE(size, 12);
  tail.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, tail]);
}
