// SPDX-License-Identifier: Apache-2.0
import { type Environment, machinesOf } from "./environment.ts";

/** How machines that are made get their initial config. */
export interface FirstContact {
  /** They start with it: as user-data, or from their seed. */
  readonly byUserData: boolean;
  /** It is applied over the API to whatever answers at a machine's address. */
  readonly trustOnFirstUse: boolean;
}

/** The kinds whose machines have certificates that nobody can know before they boot. */
type UnknownKind = "libvirt" | "aws" | "container";

const userDataChoice: Readonly<Record<UnknownKind, string>> = {
  libvirt: "machineConfig: user-data (the config is in each machine's seed)",
  aws: "access: nlb or private (the config is in user-data, and in the state)",
  container: "",
};

/** What is wrong with a first contact; undefined when exactly one way was chosen. */
export function firstContactProblem(
  kind: UnknownKind,
  { byUserData, trustOnFirstUse }: FirstContact,
): { readonly found: string; readonly expected: string; readonly hint: string } | undefined {
  if (byUserData !== trustOnFirstUse) return undefined;
  const other = userDataChoice[kind] === "" ? [] : [userDataChoice[kind]];
  const trust = "trustOnFirstUse: true (apply the initial config to whatever answers at a machine's address)";
  if (byUserData)
    return {
      found: "trustOnFirstUse: true for machines that get their initial config by user-data",
      expected: `one of: ${[trust, ...other].join("; ")}`,
      hint: "Remove one of the two.",
    };
  return {
    found: "no choice of how machines get their initial config",
    expected: other.length === 0 ? trust : `one of: ${[trust, ...other].join("; ")}`,
    hint: "The initial config holds the cluster's CA keys and tokens. Choose trustOnFirstUse only where nobody else can answer at the machines' addresses.",
  };
}

/** The first contact of the machines of an environment, as the file has chosen it. */
export function firstContactOf(environment: Environment): FirstContact {
  switch (environment.kind) {
    case "libvirt": {
      const { machineConfig, cloudInit, trustOnFirstUse } = environment.infrastructure;
      return { byUserData: machineConfig === "user-data" || cloudInit.userData !== undefined, trustOnFirstUse };
    }
    case "aws": {
      const { access, trustOnFirstUse } = environment.infrastructure;
      return { byUserData: access !== "public", trustOnFirstUse };
    }
    case "container":
    case "metal":
      return { byUserData: false, trustOnFirstUse: environment.infrastructure.trustOnFirstUse };
    case "simulated":
      return { byUserData: false, trustOnFirstUse: false };
  }
}

/** The same in a sentence. Undefined for simulated machines: their fingerprints come from the simulator. */
export function describeFirstContact(environment: Environment): string | undefined {
  if (environment.kind === "simulated") return undefined;
  const { byUserData, trustOnFirstUse } = firstContactOf(environment);
  if (byUserData) return "Initial config: by user-data, which holds the cluster's secrets.";
  const unknown = environment.kind === "metal" ? unpinned(environment) : undefined;
  if (!trustOnFirstUse || unknown?.length === 0) return "Initial config: only to machines with a pinned fingerprint.";
  const which = unknown === undefined ? "each machine" : unknown.join(", ");
  return `Initial config: trust on first use. The CA keys go to whatever answers at the address of ${which}.`;
}

function unpinned(environment: Extract<Environment, { kind: "metal" }>): readonly string[] {
  const { machines } = environment.infrastructure;
  return machinesOf(environment).flatMap(({ name }) => (machines[name]?.fingerprint === undefined ? [name] : []));
}
