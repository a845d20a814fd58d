// SPDX-License-Identifier: Apache-2.0
import type { MachineConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { KubernetesVersion, TalosVersion } from "../../talos/version/index.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { ConfiguredMachine, MachineState, ObservedCluster } from "../observed.ts";
import { componentVersions } from "./component-images.ts";
import { configFindings } from "./config-findings.ts";
import { bootstrapObstacle, mayInstall, untrusted } from "./first-contact.ts";
import { imageFindings } from "./image-findings.ts";
import { immutableFindings, overlapFindings } from "./immutable.ts";
import { endpointFindings, removalFindings } from "./kubernetes-findings.ts";
import { machineWork } from "./machine-work.ts";
import { protectionFindings } from "./protection.ts";
import {
  configured,
  type EtcdView,
  etcdView,
  holdsSilentEtcd,
  quorumOf,
  survivesOutage,
  survivesRemoval,
  withoutMember,
} from "./quorum.ts";
import { deadNodeFindings } from "./stray-nodes.ts";

/** Everything that can be known to go wrong before anything has been changed. Pure. */
export function preflight(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const versions = versionFindings(desired);
  // Machines would say of every component what is wrong with the Kubernetes version.
  const isSupported = versions.every(({ severity }) => severity !== "error");
  return [
    ...versions,
    ...endpointFindings(desired),
    ...removalFindings(desired),
    ...immutableFindings(desired, observed),
    ...overlapFindings(desired, observed),
    ...(isSupported ? configFindings(desired, observed) : []),
    ...imageFindings(desired, observed),
    ...desired.machines.flatMap((machine) => {
      const state = observed.machines.get(machine.name)?.state;
      return state === undefined ? [] : machineFindings(desired, machine, state);
    }),
    ...preflightLeave(desired, observed),
    ...rebootFindings(desired, observed),
    ...deadNodeFindings(desired, observed),
  ];
}

/** The part of it that matters when machines leave and nothing else happens. */
export function preflightLeave(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  return [
    ...protectionFindings(desired),
    ...desired.leaving.flatMap(({ name }) => leavingFindings(name, observed.machines.get(name)?.state)),
    ...etcdFindings(desired, observed),
  ];
}

/** Throws one error for all findings that stand in the way. */
export function refuseErrors(findings: readonly Finding[]): void {
  const errors = findings.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return;
  throw new TalosError("failed-precondition", errors.map(({ message }) => message).join("\n"), {
    ...given({ node: errors.length === 1 ? first.machine : undefined }),
    hint: [...new Set(errors.flatMap(({ hint }) => hint ?? []))].join(" "),
  });
}

function versionFindings({ talosVersion, kubernetesVersion, machines }: DesiredCluster): Finding[] {
  const findings = toFindings(() => talosVersion.requireKubernetes(kubernetesVersion));
  const count = machines.filter(({ role }) => role === "controlplane").length;
  if (count % 2 === 0) {
    findings.push({
      severity: "warning",
      message: `${count} control planes survive no more failures than ${count - 1}`,
      hint: "Use an odd number of control planes.",
    });
  }
  return findings;
}

function leavingFindings(name: string, state: MachineState | undefined): Finding[] {
  if (state?.kind !== "unreachable") return [];
  return [
    {
      severity: "warning",
      machine: name,
      message: `${name} does not answer: the cluster forgets it, but its disk is not wiped`,
      hint: "Wipe it before it is switched on again: it still holds the cluster's secrets.",
    },
  ];
}

function machineFindings(desired: DesiredCluster, machine: DesiredMachine, state: MachineState): Finding[] {
  if (state.kind === "foreign") {
    return refusal(
      `${machine.name} belongs to another cluster: ${state.reason}`,
      "Check the address, and that these are the secrets this machine was set up with. To use it here, reset it with its own credentials first. If it reads its config from user-data or a seed, that may be older than the last rotate-ca: replace the machine.",
      machine.name,
    );
  }
  if (state.kind === "maintenance") return emptyMachineFindings(desired, machine, state);
  if (state.kind === "unreachable") {
    if (state.certificate === undefined) return [];
    return refusal(`${machine.name}: ${state.reason}`, state.certificate.hint, machine.name);
  }
  // Reading a whole config is dear; the one that it should have says what it should be.
  const active = state.config?.text === machine.config.text ? undefined : state.config;
  if (active?.problem !== undefined) {
    return refusal(
      `the active config of ${machine.name} cannot be read: ${active.problem.message}`,
      `Apply a config that can be read with talosctl, or reset ${machine.name}.`,
      machine.name,
    );
  }
  const type = active === undefined ? machine.role : active.textAt("machine.type");
  if (type !== machine.role) {
    return refusal(
      `${machine.name} is a ${type}, and a running machine cannot become a ${machine.role}`,
      "Let it leave the cluster first; then it can come back in its new role.",
      machine.name,
    );
  }
  const { talos, config } = machineWork(desired, machine, state);
  if (state.inContainer && (talos !== undefined || config?.reboot === true)) {
    return refusal(
      `${machine.name} runs in a container: it can neither reboot nor be upgraded by itself`,
      "Replace its container by one with the wished version and config.",
      machine.name,
    );
  }
  return pathFindings(desired, machine, state);
}

/** Machines that run what no upgrade leads away from, such as a newer minor version: no step would say so. */
export function versionConflicts(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  return desired.machines.flatMap((machine) => {
    const state = configured(observed.machines.get(machine.name));
    return state === undefined || state.config?.problem !== undefined ? [] : pathFindings(desired, machine, state);
  });
}

/** Whether there is a way from the versions that run to the desired ones. */
function pathFindings(desired: DesiredCluster, machine: DesiredMachine, state: ConfiguredMachine): Finding[] {
  const active = state.config?.text === machine.config.text ? undefined : state.config;
  return [
    ...talosFindings(desired, machine, state.talosVersion),
    ...(active === undefined ? [] : kubernetesFindings(desired, machine, active)),
  ];
}

function emptyMachineFindings(
  desired: DesiredCluster,
  machine: DesiredMachine,
  state: MachineState & { kind: "maintenance" },
): Finding[] {
  const findings: Finding[] = [];
  const { fingerprint, installDisk, name } = machine;
  if (!mayInstall(desired, machine)) findings.push({ severity: "error", machine: name, ...untrusted(name) });
  if (fingerprint !== undefined && fingerprint !== state.fingerprint) {
    findings.push({
      severity: "error",
      machine: name,
      message: `${name} shows the fingerprint ${state.fingerprint}, not ${fingerprint}`,
      hint: "Compare it with the machine's console. If another machine answers there, stop.",
    });
  }
  if (installDisk !== undefined && state.disks !== undefined && !state.disks.includes(installDisk)) {
    findings.push({
      severity: "error",
      machine: name,
      message: `${name} has no disk ${installDisk}; it has ${state.disks.join(", ") || "none"}`,
      hint: "Name one of the disks that the machine has as its install disk.",
    });
  }
  return findings;
}

function talosFindings({ talosVersion }: DesiredCluster, { name }: DesiredMachine, running: string): Finding[] {
  return toFindings(() => {
    const host = TalosVersion.parse(running);
    if (host.compare(talosVersion) > 0) {
      throw new TalosError(
        "failed-precondition",
        `${running} is newer than ${talosVersion.toString()}, and Talos is never downgraded`,
        {
          hint: `Set the Talos version to ${running} or later.`,
        },
      );
    }
    if (host.compare(talosVersion) < 0) talosVersion.requireUpgradeFrom(host);
  }, name);
}

/** The oldest component decides: each must be within one minor version of where it goes. */
function kubernetesFindings(desired: DesiredCluster, { name }: DesiredMachine, config: MachineConfig): Finding[] {
  const running = [...componentVersions(config).values()].sort((a, b) =>
    KubernetesVersion.parse(a).compare(KubernetesVersion.parse(b)),
  );
  const [oldest, newest] = [running.at(0), running.at(-1)];
  if (oldest === undefined || newest === undefined) return [];
  const to = desired.kubernetesVersion;
  const [from, target] = [KubernetesVersion.parse(oldest), KubernetesVersion.parse(to)];
  const latest = KubernetesVersion.parse(newest);
  if (latest.compare(target) > 0 && !latest.canRollBackTo(target)) {
    return refusal(
      `${name} runs Kubernetes ${newest}, and a minor version cannot be downgraded: not to ${to}`,
      `Set the Kubernetes version to ${newest} or later. To get an older state of the cluster back, restore a backup.`,
      name,
    );
  }
  if (from.canUpgradeTo(target)) return [];
  return refusal(
    `unsupported upgrade path ${from.major}.${from.minor}->${target.major}.${target.minor} (from "${oldest}" to "${to}")`,
    `Upgrade to 1.${from.minor + 1} first; Kubernetes goes one minor version at a time.`,
    name,
  );
}

function etcdFindings(desired: DesiredCluster, observed: ObservedCluster): Finding[] {
  const view = etcdView(observed);
  if (view === undefined) return [...missingEtcdFindings(desired, observed), ...silentEtcdFindings(desired, observed)];
  const findings: Finding[] = quorumFindings(view, observed);
  const known = new Set([...desired.machines, ...desired.leaving].map(({ name }) => name));
  for (const { hostname, id } of view.members) {
    if (known.has(hostname)) continue;
    findings.push({
      severity: "warning",
      message: `etcd has a member ${hostname} (${id}) that is not in this cluster's list`,
      hint: "If its machine is gone for good, list it as leaving once, so that the member is removed.",
    });
  }
  let after = view;
  for (const { name, role } of desired.leaving) {
    const member = after.members.find(({ hostname }) => hostname === name);
    if (role === "worker" || member === undefined) continue;
    if (!survivesRemoval(after, name)) findings.push(staysFinding(name, after));
    else after = withoutMember(after, member.id);
  }
  return findings;
}

function staysFinding(name: string, { members, healthy }: EtcdView): Finding {
  const last = members.every(({ hostname, learner }) => learner || hostname === name);
  const reason = last
    ? "it holds the last member of etcd, and with it all data of the cluster"
    : `of ${members.length} etcd members ${healthy.size} are healthy, and the others must keep a majority`;
  return {
    severity: "error",
    machine: name,
    message: `${name} cannot leave: ${reason}`,
    hint: `${last ? "Add another control plane first." : "Heal or replace the other control planes first."} To take the whole cluster down, destroy it.`,
  };
}

/** With two members neither can be spared for a reboot; those who are yet to join do so before anyone reboots. */
function rebootFindings(desired: DesiredCluster, observed: ObservedCluster): Finding[] {
  const view = etcdView(observed);
  if (view === undefined) return [];
  const findings: Finding[] = [];
  const voters = new Set(view.members.flatMap(({ hostname, learner }) => (learner ? [] : [hostname])));
  const controlPlanes = desired.machines.filter(({ role }) => role === "controlplane");
  const joining = controlPlanes.filter(({ name }) => !voters.has(name));
  if (voters.size + joining.length !== 2) return [];
  for (const machine of controlPlanes) {
    const state = configured(observed.machines.get(machine.name));
    if (state === undefined) continue;
    const { talos, config } = machineWork(desired, machine, state);
    if ((talos !== undefined || config?.reboot === true) && !survivesOutage(view, machine.name)) {
      findings.push({
        severity: "error",
        machine: machine.name,
        message: `${machine.name} must reboot, but with 2 etcd members none can be spared`,
        hint: "Add a third control plane first, or let one of the two leave.",
      });
    }
  }
  return findings;
}

/** Members on machines that are empty now can never come back; without a majority of the others nothing can be changed. */
function quorumFindings(view: EtcdView, observed: ObservedCluster): Finding[] {
  const voters = view.members.filter(({ learner }) => !learner);
  const lost = voters.filter(({ hostname }) => {
    const machine = observed.machines.get(hostname);
    return machine?.state.kind === "maintenance" || configured(machine)?.etcd?.state === "waiting";
  });
  if (voters.length - lost.length >= quorumOf(voters.length)) return [];
  return refusal(
    `etcd has lost its quorum: ${lost.map(({ hostname }) => hostname).join(", ")} of ${voters.length} members are empty machines now`,
    restoreHint,
  );
}

const restoreHint = "Restore the cluster from an etcd snapshot, or bring the lost machines back with their disks.";

/** No etcd answers although it once ran: starting a new one would forget everything. */
function missingEtcdFindings(desired: DesiredCluster, observed: ObservedCluster): Finding[] {
  if (bootstrapObstacle(desired, observed) === undefined) return [];
  const [nodes, controlPlanes] = [
    desired.machines.filter(
      ({ name, role }) => role === "worker" && configured(observed.machines.get(name))?.ready === true,
    ),
    desired.machines.filter(({ role }) => role === "controlplane"),
  ];
  const empty = controlPlanes.filter(({ name }) => observed.machines.get(name)?.state.kind === "maintenance");
  const down = controlPlanes.filter(({ name }) => configured(observed.machines.get(name))?.etcd?.state === "down");
  if (nodes.length > 0 && empty.length === controlPlanes.length) {
    return refusal(
      `all control planes are empty, but ${nodes.map(({ name }) => name).join(", ")} were nodes of this cluster: its etcd is lost`,
      restoreHint,
    );
  }
  if (down.length === 0 || controlPlanes.length - empty.length >= quorumOf(controlPlanes.length)) return [];
  return refusal(
    `etcd has lost its quorum: ${down.map(({ name }) => name).join(", ")} still have data, ${empty.map(({ name }) => name).join(", ")} are empty`,
    restoreHint,
  );
}

function silentEtcdFindings({ leaving }: DesiredCluster, observed: ObservedCluster): Finding[] {
  return leaving.flatMap(({ name }): Finding[] => {
    const state = configured(observed.machines.get(name));
    if (state === undefined || !holdsSilentEtcd(undefined, state)) return [];
    return refusal(
      `${name} cannot leave: no etcd answers, and it has data that the others may need to come back`,
      "Heal etcd, or restore it from a snapshot, first. To take the whole cluster down, destroy it.",
      name,
    );
  });
}

function refusal(message: string, hint: string | undefined, machine?: string): Finding[] {
  return [{ severity: "error", message, ...given({ machine, hint }) }];
}

function toFindings(check: () => void, machine?: string): Finding[] {
  try {
    check();
    return [];
  } catch (error) {
    const { message, hint } = TalosError.from(error);
    return refusal(machine === undefined ? message : `${machine}: ${message}`, hint, machine);
  }
}
