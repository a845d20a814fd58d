// SPDX-License-Identifier: Apache-2.0
// An image as an OCI layout, without a container engine.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly artifactType?: string;
}

export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** What an image of one platform begins with. */
interface Base {
  readonly layers: readonly Descriptor[];
  readonly diffIds: readonly string[];
  readonly env: readonly string[];
}

export interface ImageOptions {
  readonly folder: string;
  readonly version: string;
  readonly platforms: readonly Platform[];
  /** Tar archives by platform, each a layer. */
  readonly layers: (platform: Platform) => readonly Buffer[];
  /** OCI layout with a base for each platform. Without one, the image has its own layers only. */
  readonly base?: { readonly folder: string; readonly digest: string } | undefined;
  readonly sbom: Buffer;
  readonly config: Readonly<Record<string, unknown>>;
}

const types = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  sbom: "application/vnd.cyclonedx+json",
  empty: "application/vnd.oci.empty.v1+json",
};

export const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const blobFile = (folder: string, digest: string) => join(folder, "blobs", ...digest.split(":"));
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Writes the layout anew. The digest of its index, which names the image for all platforms. */
export function writeImage(options: ImageOptions): string {
  const { folder, platforms, version, sbom } = options;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  const put = (bytes: Buffer, mediaType: string): Descriptor => {
    const digest = digestOf(bytes);
    writeFileSync(blobFile(folder, digest), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const manifests = platforms.map((platform) => ({ ...writeManifest(platform, options, put), platform }));
  const bills = manifests.map((subject) => writeBill(subject, sbom, put));
  const index = json({ schemaVersion: 2, mediaType: types.index, manifests: [...manifests, ...bills] });
  const described = put(index, types.index);
  const annotations = { "org.opencontainers.image.ref.name": version };
  writeFileSync(join(folder, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(join(folder, "index.json"), json({ schemaVersion: 2, manifests: [{ ...described, annotations }] }));
  return described.digest;
}

type Put = (bytes: Buffer, mediaType: string) => Descriptor;

function writeManifest(
  platform: Platform,
  { folder, layers, base, config, version }: ImageOptions,
  put: Put,
): Descriptor {
  const below = base === undefined ? { layers: [], diffIds: [], env: [] } : readBase(platform, base, folder);
  const own = layers(platform).map((tar) => ({
    diffId: digestOf(tar),
    layer: put(gzipSync(tar, { level: 9 }), types.layer),
  }));
  const env = Array.isArray(config.Env) ? (config.Env as readonly string[]) : [];
  const image = {
    ...platform,
    config: { ...config, Env: [...below.env, ...env] },
    rootfs: { type: "layers", diff_ids: [...below.diffIds, ...own.map(({ diffId }) => diffId)] },
  };
  const annotations = {
    "org.opencontainers.image.version": version,
    ...(base && { "org.opencontainers.image.base.digest": base.digest }),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: put(json(image), types.config),
    layers: [...below.layers, ...own.map(({ layer }) => layer)],
    annotations,
  };
  return put(json(manifest), types.manifest);
}

/** The bill of materials, found by what it is about. */
function writeBill({ platform: _, ...subject }: Descriptor, sbom: Buffer, put: Put): Descriptor {
  const manifest = {
    schemaVersion: 2,
    mediaType: types.manifest,
    artifactType: types.sbom,
    config: put(Buffer.from("{}"), types.empty),
    layers: [put(sbom, types.sbom)],
    subject,
  };
  return { ...put(json(manifest), types.manifest), artifactType: types.sbom };
}

/** Copies the base of a platform into the layout. Throws where a file of it is not what its digest says. */
function readBase(platform: Platform, { folder, digest }: NonNullable<ImageOptions["base"]>, into: string): Base {
  const read = (wanted: string): Buffer => {
    const bytes = readFileSync(blobFile(folder, wanted));
    if (digestOf(bytes) !== wanted) throw new Error(`${folder}: ${wanted} has other content than its digest says`);
    return bytes;
  };
  const top = JSON.parse(read(digest).toString()) as { manifests?: readonly Descriptor[] };
  const same = (found: Platform | undefined) =>
    found?.os === platform.os && found.architecture === platform.architecture;
  const chosen = top.manifests?.find((manifest) => same(manifest.platform))?.digest;
  if (top.manifests !== undefined && chosen === undefined)
    throw new Error(`${folder}: the base has nothing for ${platform.os}/${platform.architecture}`);
  const manifest = JSON.parse(read(chosen ?? digest).toString()) as {
    config: Descriptor;
    layers: readonly Descriptor[];
  };
  const { rootfs, config } = JSON.parse(read(manifest.config.digest).toString()) as {
    rootfs: { diff_ids: readonly string[] };
    config?: { Env?: readonly string[] };
  };
  for (const layer of manifest.layers) {
    read(layer.digest);
    copyFileSync(blobFile(folder, layer.digest), blobFile(into, layer.digest));
  }
  return { layers: manifest.layers, diffIds: rootfs.diff_ids, env: config?.Env ?? [] };
}
