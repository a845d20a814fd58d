// SPDX-License-Identifier: Apache-2.0
import { Argument, Command, Option } from "commander";
import type { Asset } from "../../talos/image/index.ts";
import type { ImageFetchOptions } from "../actions/image-fetch.ts";
import type { ImageSource } from "../actions/image-options.ts";
import type { ImageBundleOptions, ImageSchematicOptions } from "../actions/image-reference.ts";
import type { CommandContext } from "../context.ts";
import { addTo, collect, type Given } from "./flags.ts";

/** What options that were not given mean. */
const unset = { extension: [], kernelArg: [], secureboot: false, json: false };

type GivenImage = Given<ImageSource & { readonly json: boolean }, keyof typeof unset>;

/** `image schematic | installer | url | fetch`, and talosctl's `image default`. */
export function registerImage(program: Command, context: CommandContext): void {
  const image = program.command("image").alias("images").description("images of Talos: what they are, where, and here");
  addTo(image, schematicCommand(context));
  addTo(image, installerCommand(context));
  addTo(image, urlCommand(context));
  addTo(image, fetchCommand(context));
  addTo(image, bundleCommand(context));
}

function addSchematicOptions(command: Command): Command {
  return command
    .option("--extension <name>", "official system extension, such as siderolabs/qemu-guest-agent", collect)
    .option("--kernel-arg <argument>", "extra kernel argument", collect)
    .option("--factory-url <url>", "image factory to use instead of the public one");
}

function addImageOptions(command: Command): Command {
  return addSchematicOptions(command)
    .option("--schematic <file>", "schematic of the image")
    .addOption(new Option("--schematic-id <id>", "id of the schematic, instead of the file").conflicts("schematic"))
    .option("--talos-version <version>", "Talos version")
    .addOption(new Option("--platform <platform>").choices(["metal", "nocloud", "aws"]).default("metal"))
    .addOption(new Option("--arch <architecture>").choices(["amd64", "arm64"]).default("amd64"))
    .option("--secureboot", "the image for secure boot")
    .option("--json", "print the result as JSON");
}

const files = ["disk", "qcow2", "iso", "kernel", "initramfs", "cmdline", "uki"] as const;

function schematicCommand(context: CommandContext): Command {
  return addSchematicOptions(new Command("schematic"))
    .description("print the id of a schematic, computed offline")
    .argument("[file]", "the schematic; without it, one is made from the options")
    .option("--register", "make it known to the factory, which then serves its images")
    .option("--json", "print the result as JSON")
    .action(
      async (
        file: string | undefined,
        options: Given<ImageSchematicOptions, "extension" | "kernelArg" | "register" | "json">,
      ) => {
        const { imageSchematic } = await import("../actions/image-reference.ts");
        await imageSchematic(file, { ...unset, register: false, ...options }, context);
      },
    );
}

function installerCommand(context: CommandContext): Command {
  return addImageOptions(new Command("installer"))
    .description("print the reference of the installer image")
    .action(async (options: GivenImage) => {
      const { imageReference } = await import("../actions/image-reference.ts");
      await imageReference(undefined, { ...unset, ...options }, context);
    });
}

function urlCommand(context: CommandContext): Command {
  return addImageOptions(new Command("url"))
    .description("print where the factory serves a file")
    .addArgument(new Argument("<asset>", "which file").choices([...files, "pxe"]))
    .action(async (asset: Asset, options: GivenImage) => {
      const { imageReference } = await import("../actions/image-reference.ts");
      await imageReference(asset, { ...unset, ...options }, context);
    });
}

function fetchCommand(context: CommandContext): Command {
  return addImageOptions(new Command("fetch"))
    .description("download a file, check, unpack and keep it; prints its path")
    .addArgument(new Argument("[asset]", "which file").choices([...files]).default("disk"))
    .option("--cache-dir <folder>", "where images are kept (default: ~/.cache/talosmith/images)")
    .option("--sha256 <digest>", "expected SHA-256 of the file as served")
    .option("--no-unpack", "keep disk images packed")
    .action(async (asset: Exclude<Asset, "pxe">, options: Given<ImageFetchOptions, keyof typeof unset>) => {
      const { imageFetch } = await import("../actions/image-fetch.ts");
      await imageFetch(asset, { ...unset, ...options }, context);
    });
}

function bundleCommand(context: CommandContext): Command {
  return new Command("default")
    .alias("k8s-bundle")
    .description("list the images that a cluster pulls")
    .option("--coredns-version <version>", "CoreDNS version")
    .option("--etcd-version <version>", "etcd version")
    .option("--flannel-version <version>", "Flannel version")
    .option("--k8s-version <version>", "Kubernetes version")
    .option("--kube-network-policies-version <version>", "kube-network-policies version")
    .option("--talos-version <version>", "Talos version")
    .option("--json", "print them as JSON")
    .action(async (options: Given<ImageBundleOptions, "json">) => {
      const { imageBundle } = await import("../actions/image-reference.ts");
      imageBundle({ json: false, ...options }, context);
    });
}
