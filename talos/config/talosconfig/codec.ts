// SPDX-License-Identifier: Apache-2.0
import { given, isGiven } from "../../given.ts";
import { fromBase64, toBase64 } from "../../pki/index.ts";
import {
  compareKeys,
  faultAt,
  parseYamlDocument,
  stringifyYaml,
  type YamlMapping,
  type YamlNode,
  type YamlValue,
} from "../../yaml/index.ts";
import type { ClientCredentials, TalosContext, Talosconfig } from "./talosconfig.ts";

/** The text of the file, byte for byte as talosctl writes it. */
export function encodeTalosconfig(config: Talosconfig): string {
  const contexts = [...config.contexts]
    .sort(([left], [right]) => compareKeys(left, right))
    .map(([name, context]) => [name, encodeContext(context)] as const);
  return stringifyYaml({ context: config.context, contexts: new Map(contexts) });
}

function encodeContext(context: TalosContext): YamlValue {
  const { ca, certificate, key }: Partial<ClientCredentials> = context.credentials ?? context.incomplete ?? {};
  const { basic, siderov1 } = context.auth ?? {};
  return {
    endpoints: context.endpoints,
    nodes: context.nodes?.length ? context.nodes : undefined,
    ca: ca && toBase64(ca),
    crt: certificate && toBase64(certificate),
    key: key && toBase64(key),
    auth: (basic || siderov1) && {
      basic: basic && { username: basic.username, password: basic.password },
      siderov1: siderov1 && { identity: siderov1.identity },
    },
    cluster: context.cluster,
  };
}

/** Reads a talosconfig. Keys that talosctl does not know are ignored, as it does. */
export function parseTalosconfig(text: string, fileName: string): Talosconfig {
  const root = parseYamlDocument(text, fileName);
  if (root.kind !== "mapping") throw faultAt(fileName, root, "found no map, expected a talosconfig");
  const reader = fieldReader(root, fileName);
  const contexts = reader.section("contexts");
  const read = contexts?.entries.map(({ key, value }) => [key.text, readContext(value, fileName)] as const);
  return { context: reader.text("context") ?? "", contexts: new Map(read) };
}

function readContext(node: YamlNode, fileName: string): TalosContext {
  if (isNull(node)) return { endpoints: [] };
  if (node.kind !== "mapping") throw faultAt(fileName, node, "found no map, expected a context");
  const { text, texts, pem, section } = fieldReader(node, fileName);
  // The old way to name the endpoint; talosctl puts it last.
  const target = text("target");
  const nodes = texts("nodes");
  const auth = section("auth");
  return given({
    endpoints: [...texts("endpoints"), target].filter(isGiven),
    nodes: nodes.length === 0 ? undefined : nodes,
    ...credentialsOf(given({ ca: pem("ca"), certificate: pem("crt"), key: pem("key") })),
    auth: auth && readAuth(auth, fileName),
    cluster: text("cluster"),
  });
}

function credentialsOf(parts: Partial<ClientCredentials>): Pick<TalosContext, "credentials" | "incomplete"> {
  const { ca, certificate, key } = parts;
  if (ca !== undefined && certificate !== undefined && key !== undefined) {
    return { credentials: { ca, certificate, key } };
  }
  return Object.keys(parts).length === 0 ? {} : { incomplete: parts };
}

function readAuth(auth: YamlMapping, fileName: string): NonNullable<TalosContext["auth"]> {
  const reader = fieldReader(auth, fileName);
  const [basic, siderov1] = [reader.section("basic"), reader.section("siderov1")];
  const of = (section: YamlMapping, key: string) => fieldReader(section, fileName).text(key) ?? "";
  return given({
    basic: basic && { username: of(basic, "username"), password: of(basic, "password") },
    siderov1: siderov1 && { identity: of(siderov1, "identity") },
  });
}

/** Fields of a map by name; what has another form than expected is an error with its place. */
function fieldReader(mapping: YamlMapping, fileName: string) {
  const find = (key: string): YamlNode | undefined => {
    const value = mapping.entries.find((entry) => entry.key.text === key)?.value;
    return value === undefined || isNull(value) ? undefined : value;
  };
  const text = (key: string): string | undefined => {
    const value = find(key);
    if (value !== undefined && value.kind !== "scalar") throw faultAt(fileName, value, `found no text under ${key}`);
    return value?.text === "" ? undefined : value?.text;
  };
  return {
    text,
    texts: (key: string): readonly string[] => {
      const value = find(key);
      if (value === undefined) return [];
      if (value.kind !== "sequence") throw faultAt(fileName, value, `found no list under ${key}`);
      return value.items.map((item) => {
        if (item.kind !== "scalar") throw faultAt(fileName, item, `found no text in ${key}`);
        return item.text;
      });
    },
    section: (key: string): YamlMapping | undefined => {
      const value = find(key);
      if (value !== undefined && value.kind !== "mapping") throw faultAt(fileName, value, `found no map under ${key}`);
      return value;
    },
    pem: (key: string): string | undefined => {
      const encoded = text(key);
      const decoded = encoded === undefined ? undefined : fromBase64(encoded);
      if (decoded !== undefined && toBase64(decoded) !== encoded) {
        throw faultAt(fileName, find(key) ?? mapping, `found no base64 under ${key}`);
      }
      return decoded;
    },
  };
}

function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.plain && (node.text === "" || node.text === "null" || node.text === "~");
}
