// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute, type DataSource } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { checkRelease, oneOf } from "./value-rules.ts";

const platforms = ["metal", "nocloud", "aws"] as const;
const architectures = ["amd64", "arm64"] as const;

const attributes = {
  talos_version: attribute.required.string("Talos release, such as `v1.13.9`."),
  extensions: attribute.optional.stringList("System extensions, such as `siderolabs/qemu-guest-agent`."),
  kernel_args: attribute.optional.stringList("Further kernel arguments."),
  platform: attribute.optional.string("`metal` (default), `nocloud` or `aws`.", { validators: [oneOf(...platforms)] }),
  architecture: attribute.optional.string("`amd64` (default) or `arm64`.", { validators: [oneOf(...architectures)] }),
  id: attribute.computed.string("The image factory's id of the schematic."),
  installer_image: attribute.computed.string("For `install_image` of a cluster."),
  disk_image_url: attribute.computed.string("Where the image factory has the disk image."),
} satisfies Attributes;

/** Ids and URLs of the image factory, computed without asking it. */
export const schematic: DataSource<typeof attributes, Client> = {
  name: "talosmith_schematic",
  description:
    "The image factory's id of a choice of extensions and kernel arguments, with the references that follow from it. Computed; nobody is asked.",
  attributes,

  validate: ({ config, diagnostics }) => checkRelease(config, diagnostics),

  async read({ config }) {
    const [{ assetUrl, chosenSchematic, installerReference, schematicId }, { TalosVersion }] = await Promise.all([
      import("../../talos/image/index.ts"),
      import("../../talos/version/index.ts"),
    ]);
    const choice = { extensions: config.extensions ?? [], kernelArgs: config.kernel_args ?? [] };
    const image = {
      schematic: schematicId(chosenSchematic(choice)),
      version: TalosVersion.parse(config.talos_version),
      platform: (config.platform ?? "metal") as (typeof platforms)[number],
      architecture: (config.architecture ?? "amd64") as (typeof architectures)[number],
    };
    return {
      ...config,
      id: image.schematic,
      installer_image: installerReference(image),
      disk_image_url: assetUrl("qcow2", image),
    };
  },
};
