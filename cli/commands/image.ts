// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command, Option } from "commander";
import type { ImageSource } from "../actions/image.ts";
import type { CommandContext } from "../context.ts";
import { collect, runs } from "./flags.ts";

const files = ["disk", "qcow2", "iso", "kernel", "initramfs", "cmdline", "uki"] as const;

/** `image schematic | installer | url | fetch`, and talosctl's `image default`. */
export function registerImage(program: Command, context: CommandContext): void {
  const image = program.command("image").alias("images").description("images of Talos: what they are, where, and here");
  const actions = () => import("../actions/image.ts");
  addSchematicOptions(image.command("schematic"))
    .description("print the id of a schematic, computed offline")
    .argument("[file]", "the schematic; without it, one is made from the options")
    .option("--register", "make it known to the factory, which then serves its images", false)
    .option("--json", "print the result as JSON", false)
    .action(runs(context, async () => (await actions()).imageSchematic));
  addImageOptions(image.command("installer"))
    .description("print the reference of the installer image")
    .action(async (options: ImageSource & { readonly json: boolean }) =>
      (await actions()).imageReference(undefined, options, context),
    );
  addImageOptions(image.command("url"))
    .description("print where the factory serves a file")
    .addArgument(new Argument("<asset>", "which file").choices([...files, "pxe"]))
    .action(runs(context, async () => (await actions()).imageReference));
  addImageOptions(image.command("fetch"))
    .description("download a file, check, unpack and keep it; prints its path")
    .addArgument(new Argument("[asset]", "which file").choices([...files]).default("disk"))
    .option("--cache-dir <folder>", "where images are kept (default: ~/.cache/talosmith/images)")
    .option("--sha256 <digest>", "expected SHA-256 of the file as served")
    .option("--no-unpack", "keep disk images packed")
    .action(runs(context, async () => (await actions()).imageFetch));
  image
    .command("default")
    .alias("k8s-bundle")
    .description("list the images that a cluster pulls")
    .option("--coredns-version <version>", "CoreDNS version")
    .option("--etcd-version <version>", "etcd version")
    .option("--flannel-version <version>", "Flannel version")
    .option("--k8s-version <version>", "Kubernetes version")
    .option("--kube-network-policies-version <version>", "kube-network-policies version")
    .option("--talos-version <version>", "Talos version")
    .option("--json", "print them as JSON", false)
    .action(runs(context, async () => (await actions()).imageBundle));
}

function addSchematicOptions(command: Command): Command {
  return command
    .option("--extension <name>", "official system extension, such as siderolabs/qemu-guest-agent", collect, [])
    .option("--kernel-arg <argument>", "extra kernel argument", collect, [])
    .option("--factory-url <url>", "image factory to use instead of the public one");
}

function addImageOptions(command: Command): Command {
  return addSchematicOptions(command)
    .option("--schematic <file>", "schematic of the image")
    .addOption(new Option("--schematic-id <id>", "id of the schematic, instead of the file").conflicts("schematic"))
    .option("--talos-version <version>", "Talos version")
    .addOption(new Option("--platform <platform>").choices(["metal", "nocloud", "aws"]).default("metal"))
    .addOption(new Option("--arch <architecture>").choices(["amd64", "arm64"]).default("amd64"))
    .option("--secureboot", "the image for secure boot", false)
    .option("--json", "print the result as JSON", false);
}
