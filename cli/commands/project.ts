// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { ClientFileFlags } from "../actions/write-client-file.ts";
import { completionScripts, type Shell, shells } from "../completion/scripts.ts";
import type { CommandContext } from "../context.ts";
import { report } from "../output/report.ts";
import { collect, collectList, environmentCommand, runs } from "./flags.ts";

export function registerInit(program: Command, context: CommandContext): void {
  program
    .command("init")
    .description("make a project here, or add to one, with an environment from a few answers or from flags")
    .argument("[environment]", "name of the environment, and of the file in environments/", "local")
    .option("--kind <kind>", "what the machines are: simulated, libvirt, aws, metal or container")
    .option("--control-planes <count>", "number of control planes; an odd one is wise")
    .option("--workers <count>", "number of workers")
    .option("--talos-version <version>", "Talos release, such as v1.13.9, 1.13 or latest; the exact one is written")
    .option(
      "--kubernetes-version <version>",
      "Kubernetes version, such as 1.36.3, 1.36 or latest; the exact one is written",
    )
    .option("--uri <uri>", "libvirt: the KVM host, such as qemu+ssh://root@host/system")
    .option("--cidr <network>", "libvirt: network of the machines")
    .option("--vip <address>", "libvirt: address that the control planes share")
    .option("--region <region>", "aws: region")
    .option("--admin-cidrs <networks>", "aws: networks that may administer the cluster, with commas")
    .option("--zone <zone>", "aws: DNS zone for the name of the API")
    .option("--control-plane-addresses <addresses>", "metal: addresses of the control planes, with commas")
    .option("--worker-addresses <addresses>", "metal: addresses of the workers, with commas")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/init.ts")).init));
}

/** `kubeconfig` and `talosconfig`: fresh credentials, as talosctl gives them out. */
export function registerClientFiles(program: Command, context: CommandContext): void {
  for (const file of ["kubeconfig", "talosconfig"] as const) {
    const command = environmentCommand(program, file)
      .description(`write a fresh ${file} to generated/<environment>/${file}, or to another path`)
      .argument("[path]", "where to write it; - prints it")
      .option("--force", "replace a file that is there", false)
      .option("--json", "print what was written as JSON", false)
      .action(async (name: string, path: string | undefined, flags: ClientFileFlags) => {
        const { writeClientFile } = await import("../actions/write-client-file.ts");
        await writeClientFile(file, name, path, flags, context);
      });
    if (file === "kubeconfig") {
      command.option(
        "--merge",
        "put it into ~/.kube/config, KUBECONFIG or [path], and use its context from now on",
        false,
      );
      continue;
    }
    command
      .option("--roles <roles>", "roles of the certificate, such as os:reader (default: os:admin)", collectList)
      .option("--crt-ttl <duration>", "lifetime of the certificate, such as 24h (default: a year)");
  }
}

export function registerProvider(program: Command, context: CommandContext): void {
  program
    .command("provider")
    .description("the Terraform provider that comes with talosmith")
    .command("install")
    .description("put the provider where `terraform init` and `tofu init` find it from any directory")
    .option("--dir <directory>", "another plugin directory than ~/.terraform.d/plugins")
    .option("--json", "print JSON", false)
    .action(async ({ dir, json }: { dir?: string; json: boolean }) => {
      const { installProviderForUser } = await import("../../provider/package.ts");
      const target = dir === undefined ? undefined : resolve(context.cwd, dir);
      const { plugins, version, hash } = await installProviderForUser(target);
      report(context, { json }, { version, plugins, hash }, `Provider ${version} is in ${plugins}.`);
      if (!json) context.stdout.write(`${hash}\n`);
    });
}

export function registerUi(program: Command, context: CommandContext): void {
  program
    .command("ui")
    .description("show all environments in a page of your browser, until Ctrl-C")
    .addOption(new Option("--port <port>", "port to listen on; 0 takes a free one").argParser(port).default(0))
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--allow-unencrypted-remote",
      "with --host: let other machines in over plain HTTP; anyone who can read the traffic can administer your clusters",
      false,
    )
    .option("--read-only", "let the page look, and change nothing", false)
    .option(
      "--no-open",
      "do not open a browser; none is opened in CI, without a terminal, or over SSH without a display",
    )
    .option("--json", "print the address as JSON", false)
    .action(runs(context, async () => (await import("../actions/ui.ts")).ui));
}

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError("Expected 0 to 65535.");
  return number;
}

export function registerCompletion(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .description("print the completion script of a shell: commands, flags, names of environments and machines")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => context.stdout.write(completionScripts[shell]));
  program
    .command("__complete", { hidden: true })
    .description("what the completion scripts ask")
    .argument("[words...]", "the command line so far")
    .action(async (words: readonly string[]) => {
      const { answerShell } = await import("../actions/complete.ts");
      await answerShell(program, words, context);
    });
}

export function registerAdopt(program: Command, context: CommandContext): void {
  program
    .command("adopt")
    .description("make an environment of a running cluster that talosctl, talhelper, Terraform or talos-operator made")
    .argument("<environment>", "name of the new file in environments/, without .yaml")
    .option("--talosctl <folder>", "with secrets.yaml or controlplane.yaml, and talosconfig")
    .option("--talhelper <file>", "talconfig.yaml; talsecret.yaml or talsecret.sops.yaml is looked for beside it")
    .option("--terraform-state <file>", "a state of the provider siderolabs/talos, from terraform state pull")
    .option(
      "--talos-operator <file>",
      "objects of talos-operator, from kubectl get -o yaml; may be repeated",
      collect,
      [],
    )
    .option("--secrets <file>", "the secrets bundle, when the files do not hold it; plain, age or SOPS")
    .option("-n, --nodes <addresses>", "addresses of machines, when the files do not tell any", collectList, [])
    .option(
      "--age-recipient <recipient>",
      "encrypt what is secret with age for this recipient; may be repeated",
      collect,
      [],
    )
    .option("--sops", "encrypt it with the sops program", false)
    .option("--to-crds", "write objects of the Kubernetes API, to objects/, instead of an environment file", false)
    .option("--dry-run", "print the file and write nothing", false)
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/adopt.ts")).adopt));
}

export function registerSynth(program: Command, context: CommandContext): void {
  program
    .command("synth")
    .description("write the Terraform JSON of an environment, or of all, to cdktf.out/stacks/<environment>")
    .argument("[environment]", "name of a file in environments/, without .yaml")
    .option("--hcl", "write HCL to check in, to terraform/<environment>, instead", false)
    .addOption(
      new Option("--check", "write nothing; fail when the HCL in terraform/ is stale")
        .default(false)
        .implies({ hcl: true }),
    )
    .option("--json", "print NDJSON, a line per environment", false)
    .action(runs(context, async () => (await import("../actions/synth.ts")).synth));
}
