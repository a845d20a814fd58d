// SPDX-License-Identifier: Apache-2.0
import type { Node } from "yaml";
import { textAt, textsAt } from "../document/value.ts";
import { deviceExpression, isExpressible, selectorExpression } from "../expressions.ts";
import { findDocument } from "../placed-setting.ts";
import { childAt, deletion, entriesOf, isDeletion, itemsOf, listOf, mapOf, text, textOf } from "./nodes.ts";
import { type MigrationTarget, nothing, type Outcome, type Placement, type Rule, rule, unlessEmpty } from "./rules.ts";
import { pem, pemPair } from "./value-rules.ts";

const installer = "a machine takes it from its image";

export const machineRules: readonly Rule[] = [
  rule("machine.network.hostname", 12, hostname),
  rule("machine.features.stableHostname", 12, stableHostname),
  rule("machine.network.searchDomains", 12, searchDomains),
  rule("machine.network.extraHostEntries", 12, hosts),
  rule("machine.network.interfaces", 12, interfaces),
  rule("machine.registries.mirrors", 12, mirrors),
  rule("machine.registries.config", 12, registryAccess),
  rule("machine.install.extraKernelArgs", 14, unlessEmpty(`${installer}: add them to cluster.schematic.kernelArgs`)),
  rule("machine.install.extensions", 14, unlessEmpty(`${installer}: add them to cluster.schematic.extensions`)),
  rule("machine.install.disk", 14, disk),
  rule("machine.install.diskSelector", 14, diskSelector),
  rule("machine.install.legacyBIOSSupport", 14, () => "UnattendedInstallConfig does not have it"),
  rule("machine.install.bootloader", 14, () => nothing),
  // Always on in the newer form: one of the new defaults.
  rule("machine.install.grubUseUKICmdline", 14, () => nothing),
];

const installDocument = { kind: "UnattendedInstallConfig", path: ["provisioning", "diskSelector", "match"] };

function disk(node: Node): Outcome | string {
  if (isDeletion(node)) return "write an UnattendedInstallConfig with the desired disk";
  return { placements: [{ ...installDocument, node: text(deviceExpression(textOf(node))) }] };
}

function diskSelector(node: Node): Outcome | string {
  const fields = Object.fromEntries(entriesOf(node).map(({ key, value }) => [key.value, textOf(value)]));
  if (!isExpressible(fields)) return "write an UnattendedInstallConfig with the expression that selects the disk";
  return { placements: [{ ...installDocument, node: text(selectorExpression(fields)) }] };
}

function hostname(node: Node): Outcome | string {
  if (isDeletion(node)) return "write a HostnameConfig document with the desired name";
  const kind = "HostnameConfig";
  return {
    placements: [
      { kind, path: ["auto"], node: text("off") },
      { kind, path: ["hostname"], node },
    ],
  };
}

/** It counts only for a machine without a name of its own. */
function stableHostname(node: Node, { base }: MigrationTarget): Outcome | string {
  const kind = "HostnameConfig";
  const isNamed = [base.controlplane, base.worker].every(
    (documents) => textAt(findDocument(documents, { kind })?.section, "hostname") !== "",
  );
  if (isNamed) return nothing;
  if (textOf(node) !== "true") return "write a HostnameConfig document with auto: off and a name";
  return { placements: [{ kind, path: ["auto"], node: text("stable") }] };
}

/** A patch of the v1alpha1 document adds to the list, one of the document replaces it from 1.14 on. */
function searchDomains(node: Node, { contract, base }: MigrationTarget): Outcome {
  const [kind, path] = ["ResolverConfig", "searchDomains.domains"];
  const known = contract.includes(14)
    ? textsAt(findDocument(base.controlplane, { kind })?.section, path).map((domain) => text(domain))
    : [];
  const whole = isDeletion(node) || known.length === 0 ? node : listOf([...known, ...itemsOf(node)], node);
  return { placements: [{ kind, path: path.split("."), node: whole }] };
}

function hosts(node: Node): Outcome | string {
  if (isDeletion(node) || itemsOf(node).some(isDeletion)) return "write StaticHostConfig documents";
  const placements = itemsOf(node).map(
    (entry): Placement => ({
      kind: "StaticHostConfig",
      name: textOf(childAt(entry, "ip")),
      path: ["hostnames"],
      node: childAt(entry, "aliases") ?? listOf([]),
    }),
  );
  return { placements };
}

/** Talos runs DHCP on every link that v1alpha1 does not name, and on none as soon as there is one link document. */
function interfaces(): string {
  return "link documents switch DHCP off on all links that they do not name; the newer contract still accepts it here";
}

function mirrors(node: Node): Outcome | string {
  if (isDeletion(node)) return "delete the RegistryMirrorConfig documents by name instead";
  const placements: Placement[] = [];
  for (const { key, value } of entriesOf(node)) {
    const place = { kind: "RegistryMirrorConfig", name: key.value };
    if (isDeletion(value)) placements.push({ ...place, path: [], node: deletion() });
    else {
      const [endpoints, override] = [childAt(value, "endpoints"), childAt(value, "overridePath")];
      if (isDeletion(endpoints) || isDeletion(override) || (override && endpoints === undefined))
        return "endpoints and overridePath are one setting in the newer form: write both in one patch";
      const own = override === undefined ? [] : [["overridePath", override] as const];
      const urls = itemsOf(endpoints).map((url) => mapOf([["url", url], ...own]));
      if (endpoints !== undefined) placements.push({ ...place, path: ["endpoints"], node: listOf(urls, endpoints) });
      const skip = childAt(value, "skipFallback");
      if (skip !== undefined) placements.push({ ...place, path: ["skipFallback"], node: skip });
    }
  }
  return { placements };
}

function registryAccess(node: Node): Outcome | string {
  if (isDeletion(node)) return "delete the documents of the registries by name instead";
  const placements: Placement[] = [];
  for (const { key, value } of entriesOf(node)) {
    const [auth, tls] = [childAt(value, "auth"), childAt(value, "tls")];
    if ([value, auth, tls].some(isDeletion)) return "delete RegistryAuthConfig and RegistryTLSConfig by name instead";
    for (const field of entriesOf(auth))
      placements.push({ kind: "RegistryAuthConfig", name: key.value, path: [field.key.value], node: field.value });
    for (const field of entriesOf(tls))
      placements.push({
        kind: "RegistryTLSConfig",
        name: key.value,
        path: [field.key.value],
        node: tlsField(field.key.value, field.value),
      });
  }
  return { placements };
}

function tlsField(key: string, node: Node): Node {
  if (isDeletion(node)) return node;
  if (key === "ca") return pem(node);
  return key === "clientIdentity" ? pemPair(node) : node;
}
