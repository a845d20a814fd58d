// SPDX-License-Identifier: Apache-2.0
import type { Claim, DesiredCluster, EtcdView, MachineState } from "../../engine/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { DiagnosticError, type Operation } from "../framework/index.ts";
import { type Ask, adminOf, withMachines } from "./access.ts";
import type { Client } from "./client.ts";
import { configSourceOf, policyOf } from "./cluster/spec.ts";
import { runOptions, whenFree } from "./engine-run.ts";
import { clusterAsKnownBy } from "./known-cluster.ts";
import { type ControlPlanes, isBeingCreated, notedCluster, unmarkCreating } from "./project-notes.ts";
import { reasonOf } from "./translate-error.ts";

interface Membership {
  readonly name: string;
  readonly cluster: string;
  readonly address: string;
  readonly talos_endpoints: readonly string[] | null;
  readonly config_source: string | null;
}

/** Terraform destroys members side by side. They leave one after another, each with a fresh look at etcd. */
export function leaveCluster(
  membership: Membership,
  operation: Operation<Client>,
  claim: Claim | undefined,
): Promise<void> {
  const { client, clock } = operation;
  return client.inTurn(clock, async () => {
    await leave(membership, operation, claim);
    client.left(membership.cluster, membership.name);
  });
}

async function leave(membership: Membership, operation: Operation<Client>, claim: Claim | undefined): Promise<void> {
  const { client, signal } = operation;
  const { name, cluster } = membership;
  await client.keepSimulator([membership.address]);
  const secrets = await client.secrets.find();
  if (secrets === undefined) return nothingToLeave(membership, operation, "the cluster's secrets are not there");
  const engine = await import("../../engine/index.ts");
  const state = await stateOf(membership, secrets, signal);
  // The end of the whole cluster has told who did not answer.
  if ((state.kind === "unreachable" || state.kind === "maintenance") && client.hasEnded(cluster)) return;
  const creating = await isBeingCreated(client, cluster);
  if (state.kind !== "configured" && creating)
    return state.kind === "maintenance" ? undefined : nothingToLeave(membership, operation, state.reason);
  const desired =
    state.kind === "configured"
      ? await surroundings(membership, secrets, signal)
      : await surroundingsOfSilent(membership, secrets, operation, state);
  if (desired === undefined) return;
  if (creating) {
    await engine.checkOwner({ desired, secrets, signal, claim });
    const isWiped = await withMachines({ desired, secrets }, async (machines) => {
      const observed = await engine.observe(desired, { machines, signal });
      const view = engine.etcdView(observed);
      if (!holdsAllOfEtcd(name, view, observed.machines.get(name)?.state)) return false;
      const target = { name, role: "controlplane", address: membership.address } as const;
      await machines.reset(target, { graceful: false, reboot: !engine.readsUserData(desired) }, signal);
      // While no etcd answers there may be others with data, which go the same way.
      if (view !== undefined) await unmarkCreating(client, cluster);
      return true;
    });
    if (isWiped) return;
  }
  const policy = policyOf(await notedCluster(client, cluster));
  const options = { ...(await runOptions(cluster, operation)), desired, secrets, policy, claim };
  await whenFree(operation, () => engine.leaveCluster(options));
  if (state.kind === "configured" || state.kind === "maintenance") return;
  operation.diagnostics.warning({
    summary: "A machine was taken out of the cluster without its help",
    detail: `${name}: ${state.reason}. The other control planes have let it go, but its disk was not wiped. Wipe it before it is switched on again: it still holds the cluster's secrets.`,
  });
}

async function stateOf(
  { name, address, talos_endpoints }: Membership,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<MachineState> {
  const nobody = { endpoint: "https://endpoint.invalid:6443", machines: [], leaving: [], ...through(talos_endpoints) };
  const target = { name, role: "worker", address } as const;
  return withMachines({ desired: nobody, secrets }, (machines) => machines.inspect(target, signal));
}

/** The cluster as the machine itself knows it. */
async function surroundings(
  membership: Membership,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<DesiredCluster> {
  const ask = await adminOf(secrets, membership.talos_endpoints);
  return surroundingsAsToldBy(membership.address, membership, ask, secrets, signal);
}

/**
 * The cluster as the first of the other control planes knows it that answers. Undefined: nobody knows of any. A machine
 * without a config may have been wiped by a run that was interrupted before it had deleted the Node.
 */
async function surroundingsOfSilent(
  membership: Membership,
  secrets: SecretsBundle,
  operation: Operation<Client>,
  state: Exclude<MachineState, { readonly kind: "configured" }>,
): Promise<DesiredCluster | undefined> {
  const { client, signal } = operation;
  const { name, cluster, address, talos_endpoints } = membership;
  const { controlPlanes: noted } = await notedCluster(client, cluster);
  const others = (talos_endpoints ?? othersOf(noted, name)).filter((other) => other !== address);
  const ask = await adminOf(secrets);
  const silent: string[] = [];
  for (const other of others) {
    try {
      const told = await surroundingsAsToldBy(other, membership, ask, secrets, signal);
      return noted[name] === undefined ? told : { ...told, leaving: [{ name, role: "controlplane", address }] };
    } catch (error) {
      if (signal.aborted) throw error;
      silent.push(`${other}: ${reasonOf(error)}`);
    }
  }
  // It never joined, or the whole cluster was taken down before.
  if (state.kind === "maintenance") return undefined;
  if (noted[name] !== undefined) throw nobodyAnswers(membership, state.reason, silent);
  nothingToLeave(membership, operation, state.reason);
  return undefined;
}

function othersOf(noted: ControlPlanes, name: string): string[] {
  return Object.entries(noted).flatMap(([machine, address]) => (machine === name ? [] : [address]));
}

function nobodyAnswers({ name }: Membership, reason: string, silent: readonly string[]): DiagnosticError {
  const others =
    silent.length === 0
      ? "It is the only control plane, and holds all data of the cluster."
      : `None of the other control planes answers, so nobody can tell whether etcd does without it:\n${silent.join("\n")}`;
  return new DiagnosticError({
    summary: "A control plane that does not answer cannot leave",
    detail: `${name}: ${reason}. ${others}\n\nBring ${silent.length === 0 ? "it" : "one of them"} back and apply again. If the data is lost for good, restore the cluster from a backup (talosmith restore <environment> --from latest). To let Terraform forget the membership and nothing else, use terraform state rm.`,
  });
}

/** The other control planes by name, and this machine as the one that leaves. */
async function surroundingsAsToldBy(
  teller: string,
  { name, address, talos_endpoints, config_source }: Membership,
  ask: Ask,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<DesiredCluster> {
  const { cluster, etcdMembers, role } = await clusterAsKnownBy(teller, ask, secrets, signal);
  const known = cluster.machines.find((machine) => machine.name === name)?.role ?? "worker";
  // Of a machine that cannot say it itself.
  const otherwise = etcdMembers.includes(name) ? "controlplane" : known;
  return {
    ...cluster,
    ...through(talos_endpoints),
    configSource: configSourceOf(config_source) ?? "api",
    nodesBecomeReady: false,
    // Whether they answer is seen when they are looked at; a leave asks nothing else of them.
    machines: cluster.machines.filter((machine) => machine.role === "controlplane" && machine.name !== name),
    leaving: [{ name, role: teller === address ? role : otherwise, address }],
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
