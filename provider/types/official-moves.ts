// SPDX-License-Identifier: Apache-2.0
// Resources of the official provider, siderolabs/talos, that `moved` blocks take into ours. The secrets go into the bundle
// beforehand; a move writes nothing.
import {
  type Attributes,
  DiagnosticError,
  type ImportRequest,
  type Json,
  type Move,
  type StateOf,
} from "../framework/index.ts";
import { adminOf } from "./access.ts";
import type { Client } from "./client.ts";
import { clusterAsKnownBy, type KnownCluster } from "./known-cluster.ts";

/** A move from one of the official types that are about a machine. `S` is the schema that it leads to. */
export function fromOfficial<S extends Attributes>(
  type: string,
  find: (request: ImportRequest<Client>) => Promise<Partial<StateOf<S>>>,
): Move<S, Client> {
  return { type, idOf: nodeOf, find };
}

/** Where the machine answers that a resource is about. */
function nodeOf(source: Readonly<Record<string, Json>>): string {
  const address = [source.node, source.endpoint].find((value) => typeof value === "string" && value !== "");
  if (typeof address === "string") return address;
  throw new DiagnosticError({
    summary: "Its machine is not known",
    detail: "The state of the resource has neither node nor endpoint. Import ours instead (terraform import).",
  });
}

/** The cluster as the machine of a resource knows it. Throws with what to do where the bundle is not there yet. */
export async function clusterOf({ id: address, client, signal }: ImportRequest<Client>): Promise<KnownCluster> {
  const secrets = await client.secrets.find();
  if (secrets === undefined) throw noBundle();
  await client.keepSimulator([address]);
  return clusterAsKnownBy(address, await adminOf(secrets), secrets, signal);
}

function noBundle(): DiagnosticError {
  return new DiagnosticError({
    summary: "The cluster's secrets are missing",
    detail:
      "They are in the state of the official provider and have to be in a secrets file, which the provider block names, before its resources can be moved: terraform state pull > state.json, then talosmith gen secrets --from-terraform-state state.json --output-file <secrets_file>, then remove state.json.",
  });
}
