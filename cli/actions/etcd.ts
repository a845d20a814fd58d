// SPDX-License-Identifier: Apache-2.0
import type { EtcdMemberInfo, EtcdStatus } from "../../talos/api/index.ts";
import type { CommandContext } from "../context.ts";
import type { ReportedFlags, TargetFlags } from "../machine/target-flags.ts";
import { changeEachTarget, forEachTarget, requireOneNode, type Target } from "../machine/targets.ts";
import { goBytes } from "../output/go-forms.ts";
import { report } from "../output/report.ts";
import { jsonText, table } from "../output/table.ts";

/** As talosctl and etcdctl write the id of a member. */
const memberId = (id: string) => id.padStart(16, "0");

export async function members(flags: ReportedFlags, context: CommandContext): Promise<void> {
  const found = await askEach(flags, context, ({ client, call }) => client.etcdMemberList({ ...call, local: true }));
  if (flags.json) {
    const data = found.flatMap(({ node, answer }) => answer.map((one) => ({ node, ...one, id: memberId(one.id) })));
    return context.stdout.write(jsonText({ v: 1, members: data }));
  }
  const rows = found.flatMap(({ node, answer }) => answer.map((member) => memberRow(node, member)));
  context.stdout.write(table(["node", "id", "hostname", "peer urls", "client urls", "learner"], rows));
}

function memberRow(node: string, { id, hostname, peerUrls, clientUrls, learner }: EtcdMemberInfo): string[] {
  return [node, memberId(id), hostname, peerUrls.join(","), clientUrls.join(","), String(learner)];
}

const statusHeadings = [
  "node",
  "member",
  "db size",
  "in use",
  "leader",
  "raft index",
  "raft term",
  "raft applied index",
  "learner",
  "protocol",
  "storage",
  "errors",
];

export async function etcdStatus(flags: ReportedFlags, context: CommandContext): Promise<void> {
  const found = await askEach(flags, context, ({ client, call }) => client.etcdStatus(call));
  if (flags.json) return context.stdout.write(jsonText({ v: 1, members: found.map(statusData) }));
  context.stdout.write(
    table(
      statusHeadings,
      found.map(({ node, answer }) => statusRow(node, answer)),
    ),
  );
}

function statusRow(node: string, status: EtcdStatus): string[] {
  const { dbSize, dbSizeInUse } = status;
  const ratio = dbSize > 0 ? (dbSizeInUse / dbSize) * 100 : 0;
  return [
    node,
    memberId(status.memberId),
    goBytes(dbSize),
    `${goBytes(dbSizeInUse)} (${ratio.toFixed(2)}%)`,
    memberId(status.leaderId),
    ...[status.raftIndex, status.raftTerm, status.raftAppliedIndex, status.learner].map(String),
    status.protocolVersion,
    status.storageVersion,
    status.errors.join(", "),
  ];
}

function statusData({ node, answer }: Answer<EtcdStatus>) {
  const { memberId: id, leaderId, raftIndex, raftTerm, raftAppliedIndex, ...rest } = answer;
  const numbers = {
    raftIndex: Number(raftIndex),
    raftTerm: Number(raftTerm),
    raftAppliedIndex: Number(raftAppliedIndex),
  };
  return { node, memberId: memberId(id), leaderId: memberId(leaderId), ...rest, ...numbers };
}

export async function forfeitLeadership(flags: ReportedFlags, context: CommandContext): Promise<void> {
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    const leader = await client.etcdForfeitLeadership(call);
    const sentence = leader === undefined ? `${node}: did not lead.` : `${node}: ${leader} leads now.`;
    report(context, flags, { node, leader: leader ?? null }, sentence);
  });
}

export async function leave(flags: ReportedFlags, context: CommandContext): Promise<void> {
  await requireOneNode("etcd leave", flags, context);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.etcdLeave(call);
    report(context, flags, { node }, `${node}: removed from etcd.`);
  });
}

export async function removeMember(id: string, flags: ReportedFlags, context: CommandContext): Promise<void> {
  await requireOneNode("etcd remove-member", flags, context);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.etcdRemoveMember(id, call);
    report(context, flags, { node, memberId: memberId(id) }, `${node}: member ${memberId(id)} removed from etcd.`);
  });
}

interface Answer<T> {
  readonly node: string;
  readonly answer: T;
}

async function askEach<T>(
  flags: TargetFlags,
  context: CommandContext,
  ask: (target: Target) => Promise<T>,
): Promise<readonly Answer<T>[]> {
  const found: Answer<T>[] = [];
  await forEachTarget(flags, context, async (target) => {
    found.push({ node: target.node, answer: await ask(target) });
  });
  return found;
}
