// SPDX-License-Identifier: Apache-2.0

/** How a client reaches clusters: named contexts, one of them current. Certificates and keys are PEM texts. */
export interface Talosconfig {
  /** Empty when none is chosen. */
  readonly context: string;
  readonly contexts: ReadonlyMap<string, TalosContext>;
}

export interface TalosContext {
  /** Addresses to connect to, with or without a port. */
  readonly endpoints: readonly string[];
  /** Machines that a request is for. @default the endpoints */
  readonly nodes?: readonly string[] | undefined;
  readonly credentials?: ClientCredentials;
  /** Credentials of which a part is missing: of no use, but kept when the file is written again. */
  readonly incomplete?: Partial<ClientCredentials>;
  /** Other ways to log in, to proxies in front of Talos. */
  readonly auth?: {
    readonly basic?: { readonly username: string; readonly password: string };
    readonly siderov1?: { readonly identity: string };
  };
  /** Name of the cluster behind a proxy that serves many. */
  readonly cluster?: string;
}

export interface ClientCredentials {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** What a client certificate of the Talos API allows. */
export const roles = [
  "os:admin",
  "os:operator",
  "os:reader",
  "os:etcd:backup",
  "os:image:verifier",
  "os:meta:writer",
  "os:impersonator",
] as const;
export type Role = (typeof roles)[number];

/** Those of the texts that are roles, each once, in the order in which talosctl shows them. */
export function knownRoles(texts: readonly string[]): readonly Role[] {
  return roles.filter((role) => texts.includes(role)).sort();
}
