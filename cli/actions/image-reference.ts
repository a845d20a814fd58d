// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import {
  type Asset,
  assetUrl,
  encodeSchematic,
  installerReference,
  kubernetesImages,
  registerSchematic,
  schematicId,
} from "../../talos/image/index.ts";
import { Contract, defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { type ImageSource, imageOptions, readSchematic, type SchematicSource } from "./image-options.ts";

/** Prints the installer image, or with an asset the URL of that file. */
export async function imageReference(
  asset: Asset | undefined,
  options: ImageSource & { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const image = await imageOptions(options, context);
  const reference = asset === undefined ? installerReference(image) : assetUrl(asset, image);
  const answer = { schematic: image.schematic, version: image.version.toString(), reference };
  context.stdout.write(options.json ? `${JSON.stringify(answer)}\n` : `${reference}\n`);
}

export interface ImageBundleOptions {
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
  const { etcdVersion, flannelVersion, corednsVersion, kubeNetworkPoliciesVersion } = options;
  const images = kubernetesImages(contract, kubernetes, {
    ...given({
      etcd: etcdVersion,
      flannel: flannelVersion,
      coredns: corednsVersion,
      networkPolicies: kubeNetworkPoliciesVersion,
    }),
  });
  context.stdout.write(options.json ? `${JSON.stringify(images)}\n` : images.map((image) => `${image}\n`).join(""));
}

export interface ImageSchematicOptions extends SchematicSource {
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
    const factory = options.factoryUrl === undefined ? {} : { factory: options.factoryUrl };
    await registerSchematic(schematic, { ...factory, signal: context.signal });
  }
  const answer = { id, registered: options.register, schematic: encodeSchematic(schematic) };
  context.stdout.write(options.json ? `${JSON.stringify(answer)}\n` : `${id}\n`);
}
