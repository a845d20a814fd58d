// SPDX-License-Identifier: Apache-2.0
import { Command, Option } from "commander";
import { configDefaults } from "../../talos/config-defaults.ts";
import type { GenConfigOptions } from "../actions/gen-config.ts";
import type { GenSecretsOptions } from "../actions/gen-secrets.ts";
import type { GenTalosconfigOptions } from "../actions/gen-talosconfig.ts";
import type { CommandContext } from "../context.ts";
import { addSwitch, addTo, collect, collectList, type Given } from "./flags.ts";

/** What options that were not given mean. */
const unset = { force: false, json: false };
const unsetLists = {
  additionalSans: [],
  registryMirror: [],
  configPatch: [],
  configPatchControlPlane: [],
  configPatchWorker: [],
  outputTypes: ["controlplane", "worker", "talosconfig"],
  withKubespan: false,
};

/** `gen secrets | config | talosconfig`, with talosctl's own arguments; `machineconfig gen` is `gen config`. */
export function registerGen(program: Command, context: CommandContext): void {
  const gen = program.command("gen").description("make secrets, machine configs and client configs, offline");
  addTo(gen, secretsCommand(context));
  addTo(gen, configCommand("config", context));
  addTo(gen, talosconfigCommand(context));
}

function secretsCommand(context: CommandContext): Command {
  return new Command("secrets")
    .description("make the secrets bundle of a new cluster, or take it from an existing one")
    .option("--from-controlplane-config <file>", "take the secrets from the machine config of a control plane")
    .option("-p, --from-kubernetes-pki <directory>", "take them from a kubeadm PKI directory (/etc/kubernetes/pki)")
    .option("-t, --kubernetes-bootstrap-token <token>", "use this bootstrap token")
    .option("-o, --output-file <file>", 'where to write it, or "-" for stdout', "secrets.yaml")
    .option("--talos-version <version>", "make it for this Talos version (v1.9 to v1.14)")
    .option("--age-recipient <recipient>", "encrypt it with age for this recipient; may be repeated", collect)
    .option("--sops", "encrypt it with the sops program")
    .option("-f, --force", "replace an existing file: its cluster is lost with it")
    .option("--json", "print a summary as JSON")
    .action(async (options: Given<GenSecretsOptions, "ageRecipient" | "sops" | "force" | "json">) => {
      const { genSecrets } = await import("../actions/gen-secrets.ts");
      await genSecrets({ ...unset, ageRecipient: [], sops: false, ...options }, context);
    });
}

export function configCommand(name: string, context: CommandContext): Command {
  const command = new Command(name)
    .description("make the machine configs of a cluster, byte-equal to talosctl's without docs and examples")
    .argument("<cluster name>", "name of the cluster")
    .argument("<cluster endpoint>", "URL of the Kubernetes API: https://<address>:6443")
    .option("--with-secrets <file>", "use the secrets bundle of this file (plain, age or sops)")
    .option("--talos-version <version>", "write the config in the form of this Talos version (v1.9 to v1.14)")
    .option("--kubernetes-version <version>", "Kubernetes version to run")
    .option("--install-disk <disk>", "disk to install to", "/dev/sda")
    .option("--install-image <image>", "image that installs Talos")
    .option("--additional-sans <names>", "further names in the API certificates", collectList)
    .option("--dns-domain <domain>", "DNS domain of the cluster", configDefaults.dnsDomain)
    .option("--registry-mirror <host=url>", "mirror of an image registry; may be repeated", collectList)
    .option("--config-patch <patch>", "patch for all machines, @file or inline; may be repeated", collect)
    .option("--config-patch-control-plane <patch>", "patch for control planes", collect)
    .option("--config-patch-worker <patch>", "patch for workers", collect)
    .option("-o, --output <path>", 'folder, or file for a single output type, or "-" for stdout')
    .addOption(new Option("--output-dir <folder>", "folder to write to").conflicts("output"))
    .option("-t, --output-types <types>", "controlplane, worker, talosconfig (default: all)", collectList)
    .addOption(new Option("--version <version>", "version of the config format").choices(["v1alpha1"]).hideHelp())
    .option("-f, --force", "replace existing files")
    .option("--json", "print the files written as JSON");
  addSwitch(command, "with-kubespan", "switch on KubeSpan", false);
  addSwitch(command, "with-cluster-discovery", "let machines find each other by the discovery service", true);
  addSwitch(command, "with-docs", "accepted for talosctl's sake: comments are never written", false);
  addSwitch(command, "with-examples", "accepted for talosctl's sake: comments are never written", false);
  return command.action(
    async (
      cluster: string,
      endpoint: string,
      options: Given<GenConfigOptions, keyof typeof unset | keyof typeof unsetLists>,
    ) => {
      const { genConfig } = await import("../actions/gen-config.ts");
      await genConfig(cluster, endpoint, { ...unset, ...unsetLists, ...options }, context);
    },
  );
}

function talosconfigCommand(context: CommandContext): Command {
  return new Command("talosconfig")
    .description("make a client config for a role and a lifetime")
    .argument("<cluster name>", "name of the cluster, and of the context")
    .requiredOption("--with-secrets <file>", "the secrets bundle (plain, age or sops)")
    .option("--roles <roles>", "roles of the certificate (default: os:admin)", collectList)
    .option("--crt-ttl <duration>", "lifetime of the certificate", "8760h")
    .option("-e, --endpoints <addresses>", "addresses to connect to", collectList)
    .option("-n, --nodes <addresses>", "machines that requests are for", collectList)
    .option("-o, --output <file>", 'where to write it, or "-" for stdout', "talosconfig")
    .option("-f, --force", "replace an existing file")
    .option("--json", "print a summary as JSON")
    .action(
      async (
        name: string,
        options: Given<GenTalosconfigOptions, "roles" | "endpoints" | "nodes" | "force" | "json">,
      ) => {
        const { genTalosconfig } = await import("../actions/gen-talosconfig.ts");
        await genTalosconfig(name, { ...unset, roles: ["os:admin"], endpoints: [], nodes: [], ...options }, context);
      },
    );
}
