// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFile } from "./bundle.ts";
import { type ProviderIdentity, platforms } from "./install.ts";
import { createZip } from "./zip.ts";

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
