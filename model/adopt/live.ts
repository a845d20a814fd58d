// SPDX-License-Identifier: Apache-2.0
import { type Credentials, connect, type TalosClient } from "../../talos/api/index.ts";
import type { Clock, Entropy } from "../../talos/clock.ts";
import { issueAdminCredentials, MachineConfig, machineFacts } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { type SecretsBundle, trustedCas } from "../../talos/secrets/index.ts";

/** A machine of a cluster that somebody else made. */
export interface AdoptedMachine {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  readonly address: string;
  /** The config that it runs with. */
  readonly config: MachineConfig;
  /** With a leading v. */
  readonly talosVersion: string;
}

export interface LiveOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly signal: AbortSignal;
}

const hour = 3_600_000;
const deadline = 10_000;

/** All machines of the cluster: those at the given addresses, and those that they know of. */
export async function readMachines(
  secrets: SecretsBundle,
  given: readonly string[],
  { clock, entropy, signal }: LiveOptions,
): Promise<readonly AdoptedMachine[]> {
  if (given.length === 0)
    throw new TalosError("invalid-input", "no address of any machine is known", {
      hint: "Name at least one control plane with --nodes.",
    });
  const pair = issueAdminCredentials(secrets, { clock, entropy, ttl: hour });
  const credentials = { ca: trustedCas(secrets, "os"), ...pair };
  const options = { signal, deadline };
  const members = await ask(given[0] ?? "", credentials, (machine) => machine.clusterMembers(options));
  // Without discovery machines know nothing of each other; then those that are named are all there are.
  const places =
    members.length === 0
      ? given.map((address) => ({ address, name: undefined }))
      : members.map(({ hostname, addresses }) => ({
          name: hostname,
          address: given.find((address) => addresses.includes(address)) ?? addresses[0] ?? hostname,
        }));
  const machines: AdoptedMachine[] = [];
  for (const { address, name } of places) {
    const [text, version, hostname] = await ask(address, credentials, (machine) =>
      Promise.all([machine.machineConfig(options), machine.version(options), machine.hostname(options)]),
    );
    if (text === undefined) throw new TalosError("failed-precondition", `${address}: it has no config`);
    const config = new MachineConfig(text, address);
    const { type } = machineFacts(config);
    const known = name ?? hostname;
    if (known === undefined)
      throw new TalosError("failed-precondition", `${address}: it has no host name`, {
        hint: "Give it one in its config first.",
      });
    machines.push({ name: known, role: type, address, config, talosVersion: version.tag });
  }
  return machines.sort(
    (a, b) => Number(a.role === "worker") - Number(b.role === "worker") || (a.name < b.name ? -1 : 1),
  );
}

async function ask<T>(address: string, credentials: Credentials, question: (machine: TalosClient) => Promise<T>) {
  const client = connect(address, { kind: "mtls", credentials });
  try {
    return await question(client);
  } finally {
    client.close();
  }
}
