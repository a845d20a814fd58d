// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import { issueCertificate, type KeyPair } from "../pki/index.ts";
import type { SecretsBundle } from "../secrets/index.ts";
import {
  compareKeys,
  faultAt,
  parseYamlDocument,
  stringifyYaml,
  type YamlMapping,
  type YamlNode,
} from "../yaml/index.ts";

/** How a client reaches clusters: named contexts, one of them current. Certificates and keys are PEM texts. */
export interface Talosconfig {
  readonly context: string;
  readonly contexts: ReadonlyMap<string, TalosContext>;
}

export interface TalosContext {
  /** Addresses to connect to, with or without a port. */
  readonly endpoints: readonly string[];
  /** Machines that a request is for. @default the endpoints */
  readonly nodes?: readonly string[];
  readonly credentials?: { readonly ca: string; readonly certificate: string; readonly key: string };
  /** Name of the cluster behind a proxy that serves many. */
  readonly cluster?: string;
}

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

const defaultLifetime = 8760 * 3_600_000;

export interface CredentialsOptions {
  /** @default os:admin */
  readonly roles?: readonly Role[];
  /** How long the certificate is valid, in milliseconds. @default 8760 hours */
  readonly ttl?: number;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** A client certificate of the Talos API. Its roles are its organizations; apid wants client use and nothing else. */
export function issueAdminCredentials(secrets: SecretsBundle, options: CredentialsOptions): KeyPair {
  const ttl = options.ttl ?? defaultLifetime;
  if (!(ttl > 0)) throw new TalosError("invalid-input", "crt_ttl should be positive");
  const now = options.clock.now();
  return issueCertificate(
    secrets.certs.os,
    {
      subject: { organizations: [...(options.roles ?? ["os:admin"])].sort() },
      notBefore: now,
      notAfter: new Date(now.getTime() + ttl),
      usages: ["clientAuth"],
    },
    { entropy: options.entropy },
  );
}

export interface TalosconfigOptions extends CredentialsOptions {
  readonly clusterName: string;
  readonly endpoints: readonly string[];
  readonly nodes?: readonly string[];
}

/** A talosconfig with one context, named after the cluster, and fresh credentials. */
export function generateTalosconfig(secrets: SecretsBundle, options: TalosconfigOptions): Talosconfig {
  const pair = issueAdminCredentials(secrets, options);
  const context: TalosContext = {
    endpoints: options.endpoints,
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
    credentials: { ca: secrets.certs.os.certificate, certificate: pair.certificate, key: pair.key },
  };
  return { context: options.clusterName, contexts: new Map([[options.clusterName, context]]) };
}

export function encodeTalosconfig(config: Talosconfig): string {
  const names = [...config.contexts.keys()].sort(compareKeys);
  const contexts = names.map((name) => {
    const context = config.contexts.get(name);
    const { credentials } = context ?? {};
    return [
      name,
      {
        endpoints: context?.endpoints ?? [],
        nodes: context?.nodes?.length ? context.nodes : undefined,
        ca: credentials && toBase64(credentials.ca),
        crt: credentials && toBase64(credentials.certificate),
        key: credentials && toBase64(credentials.key),
        cluster: context?.cluster,
      },
    ] as const;
  });
  return stringifyYaml({ context: config.context, contexts: new Map(contexts) });
}

/** Reads a talosconfig. The old key `target` is taken as an endpoint. */
export function parseTalosconfig(text: string, fileName: string): Talosconfig {
  const root = parseYamlDocument(text, fileName);
  if (root.kind !== "mapping") throw faultAt(fileName, root, "found no map, expected a talosconfig");
  const contexts = new Map<string, TalosContext>();
  const list = lookUp(root, "contexts");
  if (list?.kind === "mapping") {
    for (const { key, value } of list.entries) contexts.set(key.text, readContext(value, fileName));
  }
  const context = lookUp(root, "context");
  return { context: context?.kind === "scalar" ? context.text : "", contexts };
}

function readContext(node: YamlNode, fileName: string): TalosContext {
  if (node.kind !== "mapping") throw faultAt(fileName, node, "found no map, expected a context");
  const text = (key: string): string | undefined => {
    const value = lookUp(node, key);
    if (value === undefined) return undefined;
    if (value.kind !== "scalar") throw faultAt(fileName, value, `found no text under ${key}`);
    return value.text === "" ? undefined : value.text;
  };
  const texts = (key: string): readonly string[] => {
    const value = lookUp(node, key);
    if (value === undefined || value.kind === "scalar") return [];
    if (value.kind === "mapping") throw faultAt(fileName, value, `found a map under ${key}, expected a list`);
    return value.items.map((item) => {
      if (item.kind !== "scalar") throw faultAt(fileName, item, `found no text in ${key}`);
      return item.text;
    });
  };
  const target = text("target");
  const nodes = texts("nodes");
  const [ca, certificate, key] = [text("ca"), text("crt"), text("key")];
  const cluster = text("cluster");
  return {
    endpoints: target === undefined ? texts("endpoints") : [target, ...texts("endpoints")],
    ...(nodes.length === 0 ? {} : { nodes }),
    ...(ca === undefined || certificate === undefined || key === undefined
      ? {}
      : { credentials: { ca: fromBase64(ca), certificate: fromBase64(certificate), key: fromBase64(key) } }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

function lookUp(mapping: YamlMapping, key: string): YamlNode | undefined {
  return mapping.entries.find((entry) => entry.key.text === key)?.value;
}

function toBase64(pem: string): string {
  return Buffer.from(pem, "utf8").toString("base64");
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
