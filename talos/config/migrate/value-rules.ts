// SPDX-License-Identifier: Apache-2.0
import { isScalar, type Node } from "yaml";
import { type Form, type MovedValue, movedValues } from "../moved-values.ts";
import { childAt, isDeletion, itemsOf, listOf, mapOf, text, textOf } from "./nodes.ts";
import { fieldSince, type Rule, rule } from "./rules.ts";

/** These come from the secrets file; a patch that has one overrides it. */
const secrets = new Set([
  "cluster.id",
  "cluster.secret",
  "cluster.ca",
  "cluster.aggregatorCA",
  "cluster.serviceAccount.key",
  "cluster.secretboxEncryptionSecret",
  "cluster.aescbcEncryptionSecret",
]);

const inSecretsFile = "it is one of the cluster's secrets: put it into the secrets file and remove it here";

/** Decided by rules of their own. */
const special = new Set(["cluster.apiServer.extraArgs", "machine.network.searchDomains"]);

/** Values that only have another place. */
export const valueRules: readonly Rule[] = [
  ...movedValues.filter(({ from }) => !secrets.has(from) && !special.has(from)).map(ruleOf),
  ...[...secrets].map((path) => rule(path, 14, () => inSecretsFile)),
];

function ruleOf({ from, kind, name, path, form }: MovedValue): Rule {
  return rule(from, fieldSince(kind, path), (node) => {
    const moved = isDeletion(node) ? (form === "same" ? node : undefined) : inForm(node, form);
    if (moved === undefined) return `$patch: delete cannot be written for ${kind}.${path}: write the desired value`;
    return { placements: [{ kind, name, path: path.split("."), node: moved }] };
  });
}

function inForm(node: Node, form: Form): Node | undefined {
  switch (form) {
    case "same":
      return node;
    case "inverse":
      return isScalar(node) ? text(textOf(node) === "true" ? "false" : "true") : undefined;
    case "addresses":
      return listOf(
        itemsOf(node).map((item) => mapOf([["address", item]])),
        node,
      );
    case "pem":
      return pem(node);
    case "pem-pair":
      return pemPair(node);
  }
}

export function pem(node: Node | undefined): Node {
  return text(Buffer.from(textOf(node), "base64").toString());
}

export function pemPair(node: Node): Node {
  return mapOf([
    ["cert", pem(childAt(node, "crt"))],
    ["key", pem(childAt(node, "key"))],
  ]);
}
