// SPDX-License-Identifier: Apache-2.0
import { join, resolve } from "node:path";
import { given } from "../../talos/given.ts";
import { type Asset, assetFile, assetUrl, fetchImage, registerSchematic } from "../../talos/image/index.ts";
import type { CommandContext } from "../context.ts";
import { type ImageSource, imageOptions, readSchematic } from "./image-options.ts";

export interface ImageFetchOptions extends ImageSource {
  readonly cacheDir?: string;
  readonly sha256?: string;
  readonly unpack: boolean;
  readonly json: boolean;
}

/** Downloads an asset into the cache and prints where it lies. */
export async function imageFetch(
  asset: Exclude<Asset, "pxe">,
  options: ImageFetchOptions,
  context: CommandContext,
): Promise<void> {
  const image = await imageOptions(options, context);
  const url = assetUrl(asset, image);
  const file = assetFile(asset, image);
  const packed = options.unpack && asset === "disk";
  const unpacked = packed ? file.replace(/\.(?:xz|zst)$/, "") : file;
  const name = join(factoryFolder(url), image.schematic, image.version.toString(), unpacked);
  // The factory builds images only of schematics that it has seen.
  if (options.schematicId === undefined) {
    const factory = options.factoryUrl === undefined ? {} : { factory: options.factoryUrl };
    await registerSchematic(await readSchematic(options, context), { ...factory, signal: context.signal });
  }
  const fetched = await fetchImage(url, {
    cache: cacheDirectory(options.cacheDir, context),
    name,
    unpack: packed,
    ...given({ sha256: options.sha256 }),
    signal: context.signal,
    onProgress: progressTo(context),
  });
  if (context.stderr.isTerminal) context.stderr.write("\n");
  context.stdout.write(options.json ? `${JSON.stringify({ ...fetched, url })}\n` : `${fetched.path}\n`);
}

/** Two factories may serve different files for one schematic and version: each has a folder of its own. */
function factoryFolder(assetUrl: string): string {
  const { protocol, host, pathname } = new URL(assetUrl);
  const scheme = protocol === "https:" ? "" : `${protocol}//`;
  return encodeURIComponent(`${scheme}${host}${pathname.slice(0, pathname.lastIndexOf("/image/"))}`);
}

function cacheDirectory(wish: string | undefined, context: CommandContext): string {
  if (wish !== undefined) return resolve(context.cwd, wish);
  const base = context.env.XDG_CACHE_HOME || join(context.env.HOME ?? context.cwd, ".cache");
  return join(base, "talosmith", "images");
}

function progressTo(context: CommandContext): (done: number, total: number | undefined) => void {
  let shown = -1;
  return (done, total) => {
    const mebibytes = Math.floor(done / 2 ** 20);
    if (!context.stderr.isTerminal || mebibytes === shown) return;
    shown = mebibytes;
    const whole = total === undefined ? "" : ` of ${Math.ceil(total / 2 ** 20)}`;
    context.stderr.write(`\r${mebibytes}${whole} MiB`);
  };
}
