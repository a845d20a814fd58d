// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { InitOptions } from "../actions/init.ts";
import type { CommandContext } from "../context.ts";

export function registerInit(program: Command, context: CommandContext): void {
  program
    .command("init")
    .description("make a project here, or add to one, with an environment from a few answers or from flags")
    .argument("[environment]", "name of the environment, and of the file in environments/", "local")
    .option("--kind <kind>", "what the machines are: simulated, libvirt, aws, metal or container")
    .option("--control-planes <count>", "number of control planes; an odd one is wise")
    .option("--workers <count>", "number of workers")
    .option("--uri <uri>", "libvirt: the KVM host, such as qemu+ssh://root@host/system")
    .option("--cidr <network>", "libvirt: network of the machines")
    .option("--vip <address>", "libvirt: address that the control planes share")
    .option("--region <region>", "aws: region")
    .option("--admin-cidrs <networks>", "aws: networks that may administer the cluster, with commas")
    .option("--zone <zone>", "aws: DNS zone for the name of the API")
    .option("--control-plane-addresses <addresses>", "metal: addresses of the control planes, with commas")
    .option("--worker-addresses <addresses>", "metal: addresses of the workers, with commas")
    .action(async (name: string, options: InitOptions) => {
      const { init } = await import("../actions/init.ts");
      await init(name, options, context);
    });
}
