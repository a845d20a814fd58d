// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import { configDefaults } from "../../talos/config-defaults.ts";
import type { CommandContext } from "../context.ts";
import { addSwitch, collect, collectList, runs } from "./flags.ts";

const actions = () => import("../actions/gen.ts");

/** `gen secrets | config | talosconfig`, with talosctl's own arguments; `machineconfig gen` is `gen config`. */
export function registerGen(program: Command, context: CommandContext): void {
  const gen = program.command("gen").description("make secrets, machine configs and client configs, offline");
  gen
    .command("secrets")
    .description("make the secrets bundle of a new cluster, or take it from an existing one")
    .option("--from-controlplane-config <file>", "take the secrets from the machine config of a control plane")
    .option("-p, --from-kubernetes-pki <directory>", "take them from a kubeadm PKI directory (/etc/kubernetes/pki)")
    .option("--from-terraform-state <file>", "take them from a Terraform state of the official provider")
    .option("-t, --kubernetes-bootstrap-token <token>", "use this bootstrap token")
    .option("-o, --output-file <file>", 'where to write it, or "-" for stdout', "secrets.yaml")
    .option("--talos-version <version>", "make it for this Talos version (v1.9 to v1.14)")
    .option("--age-recipient <recipient>", "encrypt it with age for this recipient; may be repeated", collect, [])
    .option("--sops", "encrypt it with the sops program", false)
    .option("-f, --force", "replace an existing file: its cluster is lost with it", false)
    .option("--json", "print a summary as JSON", false)
    .action(runs(context, async () => (await actions()).genSecrets));
  addConfigCommand(gen, "config", context);
  gen
    .command("talosconfig")
    .description("make a client config for a role and a lifetime")
    .argument("<cluster name>", "name of the cluster, and of the context")
    .requiredOption("--with-secrets <file>", "the secrets bundle (plain, age or sops)")
    .option("--roles <roles>", "roles of the certificate (default: os:admin)", collectList)
    .option("--crt-ttl <duration>", "lifetime of the certificate", "8760h")
    .option("-e, --endpoints <addresses>", "addresses to connect to", collectList, [])
    .option("-n, --nodes <addresses>", "machines that requests are for", collectList, [])
    .option("-o, --output <file>", 'where to write it, or "-" for stdout', "talosconfig")
    .option("-f, --force", "replace an existing file", false)
    .option("--json", "print a summary as JSON", false)
    .action(runs(context, async () => (await actions()).genTalosconfig));
}

export function addConfigCommand(parent: Command, name: string, context: CommandContext): void {
  const command = parent
    .command(name)
    .description("make the machine configs of a cluster, byte-equal to talosctl's without docs and examples")
    .argument("<cluster name>", "name of the cluster")
    .argument("<cluster endpoint>", "URL of the Kubernetes API: https://<address>:6443")
    .option("--with-secrets <file>", "use the secrets bundle of this file (plain, age or sops)")
    .option("--talos-version <version>", "write the config in the form of this Talos version (v1.9 to v1.14)")
    .option("--kubernetes-version <version>", "Kubernetes version to run")
    .option("--install-disk <disk>", "disk to install to", "/dev/sda")
    .option("--install-image <image>", "image that installs Talos")
    .option("--additional-sans <names>", "further names in the API certificates", collectList, [])
    .option("--dns-domain <domain>", "DNS domain of the cluster", configDefaults.dnsDomain)
    .option("--registry-mirror <host=url>", "mirror of an image registry; may be repeated", collectList, [])
    .option("--config-patch <patch>", "patch for all machines, @file or inline; may be repeated", collect, [])
    .option("--config-patch-control-plane <patch>", "patch for control planes", collect, [])
    .option("--config-patch-worker <patch>", "patch for workers", collect, [])
    .option("-o, --output <path>", 'folder, or file for a single output type, or "-" for stdout')
    .addOption(new Option("--output-dir <folder>", "folder to write to").conflicts("output"))
    .option("-t, --output-types <types>", "controlplane, worker, talosconfig (default: all)", collectList)
    .addOption(new Option("--version <version>", "version of the config format").choices(["v1alpha1"]).hideHelp())
    .option("-f, --force", "replace existing files", false)
    .option("--json", "print the files written as JSON", false)
    .action(runs(context, async () => (await actions()).genConfig));
  addSwitch(command, "with-kubespan", "switch on KubeSpan", false);
  addSwitch(command, "with-cluster-discovery", "let machines find each other by the discovery service", true);
  addSwitch(command, "with-docs", "accepted for talosctl's sake: comments are never written", false);
  addSwitch(command, "with-examples", "accepted for talosctl's sake: comments are never written", false);
}
