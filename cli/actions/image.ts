// SPDX-License-Identifier: Apache-2.0
import { join, resolve } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import {
  type Architecture,
  type Asset,
  assetFile,
  assetUrl,
  chosenSchematic,
  encodeSchematic,
  fetchImage,
  type ImageOptions,
  installerReference,
  kubernetesImages,
  type Platform,
  parseSchematic,
  registerSchematic,
  type Schematic,
  schematicId,
} from "../../talos/image/index.ts";
import { Contract, defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { isRedrawable } from "../output/colors.ts";
import { jsonLine } from "../output/table.ts";
import { readText } from "./user-files.ts";

interface SchematicSource {
  /** File of the schematic. */
  readonly schematic?: string;
  readonly schematicId?: string;
  readonly extension: readonly string[];
  readonly kernelArg: readonly string[];
  readonly factoryUrl?: string;
}

export interface ImageSource extends SchematicSource {
  readonly talosVersion?: string;
  readonly platform: Platform;
  readonly arch: Architecture;
  readonly secureboot: boolean;
}

/** The schematic from a file, or from the options alone. */
async function readSchematic(source: SchematicSource, context: CommandContext): Promise<Schematic> {
  const { schematic: file, extension, kernelArg } = source;
  if (file === undefined) return chosenSchematic({ extensions: extension, kernelArgs: kernelArg });
  if (extension.length + kernelArg.length > 0) {
    throw new TalosError("invalid-input", "--schematic cannot be used together with --extension or --kernel-arg", {
      hint: "Put them into the file.",
    });
  }
  return parseSchematic(await readText(file, context.cwd), file);
}

async function imageOptions(source: ImageSource, context: CommandContext): Promise<ImageOptions> {
  const id = source.schematicId ?? schematicId(await readSchematic(source, context));
  return {
    schematic: id,
    version: source.talosVersion === undefined ? defaultTalosVersion : TalosVersion.parse(source.talosVersion),
    platform: source.platform,
    architecture: source.arch,
    secureBoot: source.secureboot,
    ...given({ factory: source.factoryUrl }),
  };
}

/** Prints the installer image, or with an asset the URL of that file. */
export async function imageReference(
  asset: Asset | undefined,
  options: ImageSource & { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const image = await imageOptions(options, context);
  const reference = asset === undefined ? installerReference(image) : assetUrl(asset, image);
  const answer = { schematic: image.schematic, version: image.version.toString(), reference };
  context.stdout.write(options.json ? jsonLine(answer) : `${reference}\n`);
}

interface ImageBundleOptions {
  readonly talosVersion?: string;
  readonly k8sVersion?: string;
  readonly etcdVersion?: string;
  readonly flannelVersion?: string;
  readonly corednsVersion?: string;
  readonly kubeNetworkPoliciesVersion?: string;
  readonly json: boolean;
}

/** Prints the images that a cluster pulls. */
export function imageBundle(options: ImageBundleOptions, context: CommandContext): void {
  const contract =
    options.talosVersion === undefined ? defaultTalosVersion.contract : Contract.parse(options.talosVersion);
  const kubernetes = options.k8sVersion ?? TalosVersion.newestOf(contract).defaultKubernetesVersion;
  const { etcdVersion: etcd, flannelVersion: flannel, corednsVersion: coredns } = options;
  const versions = given({ etcd, flannel, coredns, networkPolicies: options.kubeNetworkPoliciesVersion });
  const images = kubernetesImages(contract, kubernetes, versions);
  context.stdout.write(options.json ? jsonLine(images) : images.map((image) => `${image}\n`).join(""));
}

interface ImageSchematicOptions extends SchematicSource {
  readonly register: boolean;
  readonly json: boolean;
}

/** Prints the id; with `--register` also makes the schematic known to the factory. */
export async function imageSchematic(
  file: string | undefined,
  options: ImageSchematicOptions,
  context: CommandContext,
): Promise<void> {
  const schematic = await readSchematic(file === undefined ? options : { ...options, schematic: file }, context);
  const id = schematicId(schematic);
  if (options.register) {
    await registerSchematic(schematic, factoryCall(options, context));
  }
  const answer = { id, registered: options.register, schematic: encodeSchematic(schematic) };
  context.stdout.write(options.json ? jsonLine(answer) : `${id}\n`);
}

interface ImageFetchOptions extends ImageSource {
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
    await registerSchematic(await readSchematic(options, context), factoryCall(options, context));
  }
  const fetched = await fetchImage(url, {
    cache: cacheDirectory(options.cacheDir, context),
    name,
    unpack: packed,
    ...given({ sha256: options.sha256 }),
    signal: context.signal,
    onProgress: progressTo(context),
  });
  if (isRedrawable(context.stderr, context)) context.stderr.write("\n");
  context.stdout.write(options.json ? jsonLine({ ...fetched, url }) : `${fetched.path}\n`);
}

const factoryCall = ({ factoryUrl: factory }: SchematicSource, { signal }: CommandContext) =>
  given({ factory, signal });

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
    if (!isRedrawable(context.stderr, context) || mebibytes === shown) return;
    shown = mebibytes;
    const whole = total === undefined ? "" : ` of ${Math.ceil(total / 2 ** 20)}`;
    context.stderr.write(`\r${mebibytes}${whole} MiB`);
  };
}
