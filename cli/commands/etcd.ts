// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../context.ts";
import { addTargetFlags } from "../machine/target-flags.ts";
import { addJson, runs } from "./flags.ts";

/** talosctl's `etcd` commands. Snapshots are `backup`'s. */
export function registerEtcd(program: Command, context: CommandContext): void {
  const etcd = program.command("etcd").description("etcd of control planes, as talosctl etcd");
  const actions = () => import("../actions/etcd.ts");
  addJson(addTargetFlags(etcd.command("members")))
    .description("list the members of etcd, as a control plane knows them")
    .action(runs(context, async () => (await actions()).members));
  addJson(addTargetFlags(etcd.command("status")))
    .description("show the member of a control plane: database, leader, raft, errors")
    .action(runs(context, async () => (await actions()).etcdStatus));
  addJson(addTargetFlags(etcd.command("forfeit-leadership")))
    .description("transfer etcd leadership away from a control plane")
    .action(runs(context, async () => (await actions()).forfeitLeadership));
  addJson(addTargetFlags(etcd.command("leave")))
    .description("remove a control plane from etcd")
    .action(runs(context, async () => (await actions()).leave));
  addJson(addTargetFlags(etcd.command("remove-member")))
    .description("remove the member of a control plane that is lost; one that answers leaves with `etcd leave`")
    .argument("<member id>", "as `etcd members` shows it", parseMemberId)
    .action(runs(context, async () => (await actions()).removeMember));
}

function parseMemberId(text: string): string {
  if (/^[0-9a-f]{1,16}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("expected up to 16 hexadecimal digits, as `etcd members` shows them");
}
