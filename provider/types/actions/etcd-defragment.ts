// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import { type Action, type Attributes, DiagnosticError } from "../../framework/index.ts";
import { adminOf } from "../access.ts";
import type { Client } from "../client.ts";
import { reasonOf } from "../translate-error.ts";
import { controlPlaneAddresses } from "../value-rules.ts";

const attributes = { endpoints: controlPlaneAddresses } satisfies Attributes;

/** How long a member may take to answer again, in milliseconds. */
const patience = 120_000;

export const defragment: Action<typeof attributes, Client> = {
  name: "talosmith_etcd_defragment",
  description:
    "Gives freed space of etcd's databases back to the disks: member by member, the leader last, and only while all members answer.",
  attributes,
  timeouts: { invoke: "30m" },

  async invoke({ config, client, signal, progress }) {
    await client.keepSimulator(config.endpoints);
    const ask = await adminOf(await client.secrets.of(null));
    const status = (address: string) => ask(address, (machine) => machine.etcdStatus({ signal, deadline: 10_000 }));
    const members = await Promise.all(
      config.endpoints.map(async (address) => {
        const { memberId, leaderId, dbSize } = await status(address).catch((error) => refuse(address, error, signal));
        return { address, leads: memberId === leaderId, bytes: dbSize };
      }),
    );
    for (const { address, bytes } of [...members].sort((a, b) => Number(a.leads) - Number(b.leads))) {
      await ask(address, (machine) => machine.etcdDefragment({ signal }));
      const after = await answersAgain(address, status, signal);
      progress(`etcd on ${address} is defragmented: ${bytes} bytes before, ${after} now`);
    }
  },
};

/** With a member down, one more that pauses may cost the quorum. */
function refuse(address: string, error: unknown, signal: AbortSignal): never {
  if (signal.aborted) throw error;
  throw new DiagnosticError({
    summary: "etcd is not healthy",
    detail: `${address}: ${reasonOf(error)}. Nothing was defragmented: a member that is defragmented does not answer for a while, and etcd could lose its quorum.`,
  });
}

async function answersAgain(
  address: string,
  status: (address: string) => Promise<{ readonly dbSize: number }>,
  signal: AbortSignal,
): Promise<number> {
  const begun = performance.now();
  for (;;) {
    try {
      return (await status(address)).dbSize;
    } catch (error) {
      if (signal.aborted || performance.now() - begun > patience) throw error;
      await sleep(1_000, undefined, { signal });
    }
  }
}
