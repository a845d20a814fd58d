// SPDX-License-Identifier: Apache-2.0

import { clusterSettings, defaultOf, evenControlPlanes, type Setting } from "../../../model/settings/index.ts";
import {
  type AttributePath,
  type Diagnostics,
  isUnknown,
  isWhollyKnown,
  path,
  type Value,
} from "../../framework/index.ts";
import { refuseSecretPatches } from "../patch-files.ts";
import { checkSettings } from "../setting-rules.ts";
import { checkInto } from "../translate-error.ts";
import { liftProtection, unknownValue } from "../value-rules.ts";
import type { ClusterState, ClusterWishes } from "./attributes.ts";
import { checkOutages } from "./outages.ts";
import { checkPools } from "./scaling-pools.ts";
import { contractIn } from "./spec.ts";

/** Faults of a configuration by itself. Values that are not known yet are checked when they are. */
export async function checkWishes(wishes: ClusterWishes, diagnostics: Diagnostics): Promise<void> {
  // Terraform starts us once for this alone: all that knows configs would take longer to load than to ask.
  const [{ Contract, KubernetesVersion, TalosVersion }, { checkEndpoint }] = await Promise.all([
    import("../../../talos/version/index.ts"),
    import("../../../talos/check-endpoint.ts"),
  ]);
  const check = checkInto(diagnostics);
  const {
    talos_version: talos,
    config_contract: contract,
    kubernetes_version: kubernetes,
    endpoint,
    cni,
    cni_urls: urls,
    machines,
  } = wishes;
  const release = typeof talos === "string" ? check(path("talos_version"), () => TalosVersion.parse(talos)) : undefined;
  // Another contract than a known one is an error of its own.
  const unknown = release?.unknownWith(typeof contract === "string" ? Contract.find(contract) : undefined);
  if (unknown !== undefined)
    diagnostics.warning({
      summary: "Newer Talos than the provider knows",
      detail: `Found ${release}. ${unknown}`,
      path: path("talos_version"),
    });
  if (typeof kubernetes === "string")
    check(path("kubernetes_version"), () => {
      KubernetesVersion.parse(kubernetes);
      release?.requireKubernetes(kubernetes);
    });
  if (typeof endpoint === "string") check(path("endpoint"), () => checkEndpoint(endpoint));
  if (cni === "custom" && (urls === null || (Array.isArray(urls) && urls.length === 0)))
    diagnostics.error({
      summary: "Pod network without manifests",
      detail: 'cni is "custom", but cni_urls names no manifest.',
      path: path("cni_urls"),
    });
  await checkSettings(wishes, diagnostics, machines);
  await checkCaution(wishes.rollout, diagnostics);
  if (machines === null || isUnknown(machines)) return;
  for (const [name, machine] of Object.entries(machines))
    if (!isUnknown(machine))
      await refuseSecretPatches(machine.patches, path("machines").key(name).attribute("patches"), diagnostics);
  await checkPools(wishes, diagnostics);
  checkNames(machines, diagnostics);
  await checkMeta(machines, diagnostics);
  if (!isUnknown(wishes.join)) checkRoles(machines, wishes.join !== null, diagnostics);
}

/** Machine names are host names and names of Kubernetes nodes. */
function checkNames(machines: object, diagnostics: Diagnostics): void {
  for (const name of Object.keys(machines)) {
    if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) continue;
    diagnostics.error({
      summary: "Not a host name",
      detail: `Found ${JSON.stringify(name)}; expected up to 63 small letters, digits and dashes, with no dash at either end.`,
      path: path("machines").key(name),
    });
  }
}

async function checkMeta(machines: Exclude<ClusterWishes["machines"], null>, diagnostics: Diagnostics): Promise<void> {
  const { parseMetaKey, talosUseOfMetaKey } = await import("../../../talos/meta-key.ts");
  for (const [name, machine] of Object.entries(machines)) {
    const meta = isUnknown(machine) || isUnknown(machine.meta) ? {} : (machine.meta ?? {});
    for (const key of Object.keys(meta)) {
      const number = parseMetaKey(key);
      const use = number === undefined ? undefined : talosUseOfMetaKey(number);
      if (String(number) === key && use === undefined) continue;
      const found = use === undefined ? "" : `, where Talos keeps ${use}`;
      const detail = `Found the key ${JSON.stringify(key)}${found}; expected 10, 12 to 15, or another number up to 255 that Talos does not use itself.`;
      const where = path("machines").key(name).attribute("meta").key(key);
      diagnostics.error({ summary: "Not a key for META", detail, path: where });
    }
  }
}

function checkRoles(
  machines: Exclude<ClusterWishes["machines"], null>,
  joins: boolean,
  diagnostics: Diagnostics,
): void {
  const roles = Object.values(machines).map((machine) => (isUnknown(machine) ? machine : machine.role));
  if (roles.some(isUnknown)) return;
  const planes = roles.filter((role) => role === "controlplane").length;
  if (joins) {
    if (planes > 0)
      diagnostics.error({
        summary: "Control planes of two stacks",
        detail: `With join, the control plane is another stack's; found ${planes} of your own.`,
        path: path("machines"),
      });
  } else if (planes === 0)
    diagnostics.error({
      summary: "No control plane",
      detail: 'A cluster needs at least one machine with the role "controlplane".',
      path: path("machines"),
    });
  else if (planes % 2 === 0)
    diagnostics.warning({
      summary: evenControlPlanes,
      detail: `${planes} control planes survive the loss of ${(planes - 2) / 2}, as ${planes - 1} do, and there is one machine more to fail. Use an odd number.`,
      path: path("machines"),
    });
}

/**
 * What may not change in a cluster that is there: said at plan, before anything is touched. `environment`: of the
 * process, which tells whether Terraform stops the machines itself.
 */
export async function checkChange(
  prior: ClusterState,
  next: ClusterWishes,
  diagnostics: Diagnostics,
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { KubernetesVersion, TalosVersion } = await import("../../../talos/version/index.ts");
  const check = checkInto(diagnostics);
  const fixed = (where: AttributePath, before: Value, after: Value) => {
    if (!isWhollyKnown(after) || JSON.stringify(before) === JSON.stringify(after)) return;
    const detail = `It is ${JSON.stringify(before)} and can't become ${JSON.stringify(after)} in a cluster that is there. Put it back, or make another cluster.`;
    diagnostics.error({ summary: "Can't be changed", detail, path: where });
  };
  const rows: readonly Setting[] = Object.values(clusterSettings);
  const [before, after]: readonly Readonly<Record<string, Value>>[] = [{ ...prior }, { ...next }];
  for (const row of rows) {
    if (row.attribute === undefined || row.fixed !== true) continue;
    const usual = (defaultOf(row) ?? null) as Value;
    fixed(path(row.attribute), before?.[row.attribute] ?? usual, after?.[row.attribute] ?? usual);
  }
  if (prior.infrastructure_kind !== null && next.infrastructure_kind !== null)
    fixed(path("infrastructure_kind"), prior.infrastructure_kind, next.infrastructure_kind);
  if (next.machines !== null && !isUnknown(next.machines)) {
    for (const [name, machine] of Object.entries(next.machines)) {
      const before = prior.machines[name];
      if (before !== undefined && !isUnknown(machine))
        fixed(path("machines").key(name).attribute("role"), before.role, machine.role);
    }
    await checkOutages(prior, { ...next, machines: next.machines }, diagnostics, environment);
    checkDisks(prior, next.machines, diagnostics);
    checkProtection(prior, next, Object.keys(next.machines), diagnostics);
  }
  await checkContract(prior, next, diagnostics);
  const talos = next.talos_version;
  if (typeof talos === "string" && talos !== prior.talos_version)
    check(path("talos_version"), () => {
      const [from, to] = [TalosVersion.parse(prior.talos_version), TalosVersion.parse(talos)];
      if (to.compare(from) < 0) return goingDown(diagnostics, "talos_version", from.toString(), to.toString());
      to.requireUpgradeFrom(from);
    });
  const kubernetes = next.kubernetes_version;
  if (typeof kubernetes === "string" && kubernetes !== prior.kubernetes_version)
    check(path("kubernetes_version"), () => {
      const [from, to] = [KubernetesVersion.parse(prior.kubernetes_version), KubernetesVersion.parse(kubernetes)];
      if (from.canRollBackTo(to)) return;
      if (to.compare(from) < 0) return goingDown(diagnostics, "kubernetes_version", from.toString(), to.toString());
      if (!from.canUpgradeTo(to))
        diagnostics.error({
          summary: "Too far in one step",
          detail: `Kubernetes goes up by one minor release at a time: from ${from} to a 1.${from.minor + 1} first.`,
          path: path("kubernetes_version"),
        });
    });
}

/** Neither libvirt nor EC2 makes a disk smaller, and both say so only when the machine is stopped. */
function checkDisks(
  prior: ClusterState,
  machines: Exclude<ClusterWishes["machines"], null>,
  diagnostics: Diagnostics,
): void {
  for (const [name, machine] of Object.entries(machines)) {
    const before = prior.machines[name];
    if (before === undefined || before.disk_size === null || isUnknown(machine)) continue;
    const isKept = before.member_id === machine.member_id;
    const { disk_size: size } = machine;
    if (!isKept || typeof size !== "number" || size >= before.disk_size) continue;
    diagnostics.error({
      summary: "Disks only grow",
      detail: `The disk of ${name} has ${inGibibytes(before.disk_size)}; found ${inGibibytes(size)}. Set disk to ${inGibibytes(before.disk_size)} or more. For smaller disks, add a pool with them and remove this one.`,
      path: path("machines").key(name).attribute("disk_size"),
    });
  }
}

const inGibibytes = (bytes: number) => `${Number((bytes / 2 ** 30).toFixed(2))}GiB`;

function checkProtection(
  prior: ClusterState,
  { on_destroy }: ClusterWishes,
  machines: readonly string[],
  diagnostics: Diagnostics,
): void {
  const removed = Object.keys(prior.machines).filter((name) => !machines.includes(name));
  if (removed.length === 0 || (prior.on_destroy !== "prevent" && on_destroy !== "prevent")) return;
  diagnostics.error({
    summary: "The cluster is protected",
    detail: `on_destroy of ${prior.name} is "prevent": ${removed.join(", ")} can't be removed. ${liftProtection}`,
    path: path("machines"),
  });
}

/** A change of the contract changes the form of every config, and may switch defaults on: only a migration does that. */
async function checkContract(prior: ClusterState, next: ClusterWishes, diagnostics: Diagnostics): Promise<void> {
  const { Contract } = await import("../../../talos/version/index.ts");
  const { config_contract: now, previous_contract: previous } = next;
  const before = await contractIn(prior);
  if (typeof now !== "string" || now === before || isUnknown(previous)) return;
  const isNewer = Contract.parse(now).compare(Contract.parse(before)) > 0;
  if (isNewer && previous === before) return;
  const migrate = `To change it, run: talosmith config migrate <environment> --to ${now}`;
  diagnostics.error({
    summary: "The config contract is another one",
    detail: `The cluster has ${before}; found ${now}. Set config_contract to ${before} (configContract in the environment file): an upgrade of Talos keeps it.${isNewer ? ` ${migrate}` : ""}`,
    path: path("config_contract"),
  });
}

function goingDown(diagnostics: Diagnostics, name: string, from: string, to: string): void {
  diagnostics.error({
    summary: "Versions only go up",
    detail: `The cluster has ${from}; ${to} is older. Put ${from} back.`,
    path: path(name),
  });
}

/** Faults of the gates, windows and canary of a rollout. */
async function checkCaution(rollout: ClusterWishes["rollout"], diagnostics: Diagnostics): Promise<void> {
  if (rollout === null || isUnknown(rollout)) return;
  const { gates, windows, canary } = rollout;
  const refuse = (found: unknown, expected: string, where: AttributePath) =>
    diagnostics.error(unknownValue(found, expected, where));
  const at = path("rollout");
  if (gates !== null && !isUnknown(gates))
    gates.forEach((gate, index) => {
      if (isUnknown(gate) || isUnknown(gate.command) || isUnknown(gate.url)) return;
      const { command, url } = gate;
      const where = at.attribute("gates").index(index);
      if ((command === null) === (url === null)) refuse({ command, url }, "one of command and url", where);
      else if (command?.length === 0) refuse(command, "a program and its arguments", where.attribute("command"));
      else if (typeof url === "string" && !/^https?:/.test(url))
        refuse(url, "an http or https URL", where.attribute("url"));
    });
  if (windows !== null && !isUnknown(windows) && windows.length > 0) {
    const { isCron, isTimeZone } = await import("../../../model/cron.ts");
    windows.forEach((window, index) => {
      if (isUnknown(window)) return;
      const { schedule, time_zone: zone } = window;
      const where = at.attribute("windows").index(index);
      if (typeof schedule === "string" && !isCron(schedule))
        refuse(schedule, "five fields, as cron has them", where.attribute("schedule"));
      if (typeof zone === "string" && !isTimeZone(zone))
        refuse(zone, "a time zone such as Europe/Berlin", where.attribute("time_zone"));
    });
  }
  if (canary !== null && !isUnknown(canary) && typeof canary.machines === "number" && canary.machines < 1)
    refuse(canary.machines, "a number from 1 on", at.attribute("canary").attribute("machines"));
}
