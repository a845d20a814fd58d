// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, EtcdView, EventListener, MachineState } from "../../talos/cluster/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { Operation } from "../framework/index.ts";
import { adminOf } from "./admin.ts";
import type { Client } from "./client.ts";
import { isBeingCreated, unmarkCreating } from "./creation-mark.ts";
import { knownMachines } from "./known-machines.ts";
import { whenFree } from "./when-free.ts";

interface Membership {
  readonly name: string;
  readonly cluster: string;
  readonly address: string;
  readonly talos_endpoints: readonly string[] | null;
}

/** Terraform destroys members side by side. They leave one after another, each with a fresh look at etcd. */
export function leaveCluster(membership: Membership, operation: Operation<Client>): Promise<void> {
  return operation.client.inTurn(() => leave(membership, operation));
}

async function leave(membership: Membership, operation: Operation<Client>): Promise<void> {
  const { client, signal, log } = operation;
  const { name, cluster } = membership;
  const secrets = await client.secrets.find();
  if (secrets === undefined) return nothingToLeave(membership, operation, "the cluster's secrets are not there");
  const engine = await import("../../talos/cluster/index.ts");
  const { etcdView, journalFile, observe, talosMachines } = engine;
  const state = await stateOf(membership, secrets, signal);
  // Without a config it has nothing to leave: it never joined, or the whole cluster was taken down before.
  if (state.kind === "maintenance") return;
  if (state.kind === "unreachable" && membership.talos_endpoints !== null && client.hasEnded(cluster)) return;
  if (state.kind !== "configured") return nothingToLeave(membership, operation, state.reason);
  const desired = await surroundings(membership, secrets, signal);
  if (await isBeingCreated(client, cluster)) {
    const machines = talosMachines({ desired, secrets });
    try {
      const observed = await observe(desired, { machines, signal });
      const view = etcdView(observed, name);
      if (holdsAllOfEtcd(name, view, observed.machines.get(name)?.state)) {
        await machines.reset({ name, role: "controlplane", address: membership.address }, { graceful: false }, signal);
        // While no etcd answers there may be others with data, which go the same way.
        if (view !== undefined) await unmarkCreating(client, cluster);
        return;
      }
    } finally {
      machines.close();
    }
  }
  const events: EventListener = ({ type, message, machine }) =>
    log("info", message, { event: type, cluster, ...(machine === undefined ? {} : { machine }) });
  const journal = journalFile(client.journal(cluster));
  await whenFree(operation, () => engine.leaveCluster({ desired, secrets, signal, events, journal }));
}

async function stateOf(
  { name, address, talos_endpoints }: Membership,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<MachineState> {
  const { talosMachines } = await import("../../talos/cluster/index.ts");
  const nobody = { endpoint: "https://endpoint.invalid:6443", machines: [], leaving: [], ...through(talos_endpoints) };
  const machines = talosMachines({ desired: nobody, secrets });
  try {
    return await machines.inspect({ name, role: "worker", address }, signal);
  } finally {
    machines.close();
  }
}

/** The cluster as the machine itself knows it: the other control planes by name, and this machine as the one that leaves. */
async function surroundings(
  { name, address, talos_endpoints }: Membership,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<DesiredCluster> {
  const [{ readMachineFacts }, { TalosVersion }, { caFingerprint }] = await Promise.all([
    import("../../talos/config/index.ts"),
    import("../../talos/version/index.ts"),
    import("../../talos/secrets/index.ts"),
  ]);
  const ask = await adminOf(secrets, talos_endpoints);
  const options = { signal, deadline: 10_000 };
  const [config, known, version] = await ask(address, (client) =>
    Promise.all([client.machineConfig(options), knownMachines(client, options), client.version(options)]),
  );
  const facts = readMachineFacts(config ?? "");
  // Whether they answer is seen when they are looked at; a leave asks nothing else of them.
  const others = known.machines
    .filter((machine) => machine.role === "controlplane" && machine.name !== name)
    .map((machine) => ({ ...machine, config: "", installImage: "" }));
  return {
    name: facts.clusterName,
    endpoint: facts.endpoint,
    ...through(talos_endpoints),
    talosVersion: TalosVersion.parse(version.tag),
    kubernetesVersion: facts.kubernetesVersion,
    nodesBecomeReady: false,
    machines: others.sort((a, b) => (a.name < b.name ? -1 : 1)),
    leaving: [{ name, role: facts.type, address }],
    caFingerprint: caFingerprint(secrets),
  };
}

function through(endpoints: readonly string[] | null): Pick<DesiredCluster, "talosEndpoints"> {
  return endpoints === null ? {} : { talosEndpoints: endpoints };
}

/** The last voter, or one with data while no etcd answers: only a cluster that never was complete gives that up. */
function holdsAllOfEtcd(name: string, view: EtcdView | undefined, state: MachineState | undefined): boolean {
  if (view === undefined) return state?.kind === "configured" && state.etcd?.state === "down";
  return view.members.every(({ hostname, learner }) => learner || hostname === name);
}

function nothingToLeave({ name }: Membership, { diagnostics }: Operation<Client>, reason: string): void {
  diagnostics.warning({
    summary: "A machine did not leave by itself",
    detail: `${name}: ${reason}. What it left in the cluster, its etcd member and its node, is cleaned up by the next apply of the cluster.`,
  });
}
