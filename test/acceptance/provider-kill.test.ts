// SPDX-License-Identifier: Apache-2.0
// SIGKILL of the provider in each call of an apply, and at each line of the journal; then the next apply completes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../talos/api/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials } from "../../talos/config/index.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { type ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { callsOf, installKillingProvider, type KillAt, killAt } from "../support/killing-provider.ts";
import { apply, underTools } from "../support/under-tools.ts";

const machines = { "cp-1": "controlplane", "cp-2": "controlplane" } as const;

/** In the order of an apply, so that each kill finds the work of the one before. */
const calls: readonly (KillAt | "make the machines")[] = [
  { rpc: "GetProviderSchema", nth: 1 },
  { rpc: "ValidateProviderConfig", nth: 1 },
  { rpc: "ValidateResourceConfig", nth: 2 },
  { rpc: "ConfigureProvider", nth: 1 },
  { rpc: "PlanResourceChange", nth: 1 },
  { rpc: "ApplyResourceChange", nth: 1 },
  // Killed while it makes them side by side, it may have left none in the state, and nothing would be read.
  "make the machines",
  { rpc: "UpgradeResourceState", nth: 1 },
  { rpc: "ReadResource", nth: 1 },
  { rpc: "ApplyResourceChange", nth: 1 },
];
const lines: readonly KillAt[] = Array.from({ length: 8 }, (_, index) => ({ journal: index + 1 }));
const always: readonly KillAt[] = [
  { rpc: "PlanResourceChange", nth: 1 },
  { rpc: "ApplyResourceChange", nth: 2 },
  { journal: 1 },
  { journal: 4 },
];

underTools("killed", ({ open }) => {
  test("the provider leaves what the next apply completes, with one start of etcd", async () => {
    const workspace = await open(clusterConfig({ machines }));
    killAt(workspace, undefined);
    await installKillingProvider(workspace);
    const identities = new Set<string>();
    for (const moment of everything ? [...calls, ...lines] : always) {
      killAt(workspace, moment === "make the machines" ? undefined : moment);
      if (moment === "make the machines") {
        await workspace.apply("-target=talosmith_simulated_machine.this");
        continue;
      }
      const run = await workspace.run(apply);
      // A journal that is longer already means that this moment is past: then the run may have come through.
      if ("rpc" in moment) {
        expect(callsOf(workspace), JSON.stringify(moment)).toContain(moment.rpc);
        expect(run.code, JSON.stringify(moment)).not.toBe(0);
      }
      const member = await firstMember(workspace);
      if (member !== undefined) identities.add(member);
    }
    killAt(workspace, undefined);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    const member = await firstMember(workspace);
    expect([...new Set([...identities, member])]).toEqual([member]);
    const journal = readFileSync(join(workspace.directory, "generated/test/journal.jsonl"), "utf8");
    expect(journal.match(/"bootstrap-etcd\/cp-1","event":"finished"/g) ?? []).toHaveLength(1);
    expect(await members(workspace)).toEqual(["cp-1", "cp-2"]);
    await workspace.destroy();
  });
});

async function ask<T>(workspace: ClusterWorkspace, question: (client: ReturnType<typeof connect>) => Promise<T>) {
  const address = (await workspace.simulator().listMachines()).find(({ name }) => name === "cp-1")?.address;
  if (address === undefined) return undefined;
  try {
    const secrets = await secretsStore({ kind: "file", path: join(workspace.directory, "secrets.yaml") }).read();
    const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
    const credentials = { ca: secrets.certs.os.certificate, certificate: pair.certificate, key: pair.key };
    const client = connect(address, { kind: "mtls", credentials });
    try {
      return await question(client);
    } finally {
      client.close();
    }
  } catch {
    return undefined; // Not there yet.
  }
}

/** The identity of the first control plane's etcd member: another one would mean that etcd was started anew. */
const firstMember = (workspace: ClusterWorkspace) =>
  ask(workspace, async (client) => (await client.etcdStatus({ deadline: 3000 })).memberId);

const members = (workspace: ClusterWorkspace) =>
  ask(workspace, async (client) => (await client.etcdMemberList()).map(({ hostname }) => hostname).sort());
