// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { given } from "../given.ts";
import { belongTogether, checkKey, type KeyPair, loadCertificate, toBase64 } from "../pki/index.ts";
import { faultAt, parseYamlDocument, stringifyYaml, type YamlMapping, type YamlNode } from "../yaml/index.ts";
import type { CaRotation, SecretsBundle } from "./bundle.ts";

/** Writes a bundle as `talosctl gen secrets` does. */
export function encodeSecrets(bundle: SecretsBundle): string {
  const { cluster, secrets, trustdInfo, certs, rotation, formerCas } = bundle;
  const pair = (from: KeyPair) => ({ crt: toBase64(from.certificate), key: toBase64(from.key) });
  return stringifyYaml({
    cluster: { id: cluster.id, secret: cluster.secret },
    secrets: {
      bootstraptoken: secrets.bootstrapToken,
      aescbcencryptionsecret: secrets.aescbcEncryptionSecret,
      secretboxencryptionsecret: secrets.secretboxEncryptionSecret,
    },
    trustdinfo: { token: trustdInfo.token },
    certs: {
      etcd: pair(certs.etcd),
      k8s: pair(certs.k8s),
      k8saggregator: pair(certs.k8sAggregator),
      k8sserviceaccount: { key: toBase64(certs.k8sServiceAccount.key) },
      os: pair(certs.os),
    },
    // Not talosctl's, which passes over them: only there while CAs are exchanged, and afterwards.
    rotation: rotation && {
      phase: rotation.phase,
      os: rotation.os && pair(rotation.os),
      k8s: rotation.k8s && pair(rotation.k8s),
    },
    formercas: formerCas === undefined ? undefined : [...formerCas],
  });
}

/**
 * Reads a bundle in Talos's YAML form or in the JSON form of other tools, whose keys differ only in case. All faults
 * are reported at once, in the words of talosctl; no secret is ever part of a message.
 */
export function parseSecrets(text: string, fileName: string): SecretsBundle {
  const root = parseYamlDocument(text, fileName);
  if (root.kind !== "mapping") {
    throw faultAt(fileName, root, "found no map, expected a secrets bundle", "Make one with: talosmith gen secrets");
  }
  const reader = new BundleReader(root, fileName);
  const bundle = reader.read();
  if (bundle !== undefined && reader.faults.length === 0) return bundle;
  throw new TalosError("invalid-input", `${fileName}: secrets bundle is not valid:\n${bulletList(reader.faults)}`, {
    hint: "Restore the file from your backup; a new bundle cannot join machines of an existing cluster.",
  });
}

class BundleReader {
  readonly faults: string[] = [];
  readonly #root: YamlMapping;
  readonly #fileName: string;

  constructor(root: YamlMapping, fileName: string) {
    this.#root = root;
    this.#fileName = fileName;
  }

  read(): SecretsBundle | undefined {
    this.#refuseUnknown(this.#root, "", ["cluster", "secrets", "trustdinfo", "certs", "rotation", "formercas"]);
    const cluster = this.#section("cluster", ["id", "secret"]);
    const id = this.#text(cluster, "cluster.id");
    const secret = this.#text(cluster, "cluster.secret");
    const secrets = this.#section("secrets", ["bootstraptoken", "secretboxencryptionsecret", "aescbcencryptionsecret"]);
    const bootstrapToken = this.#text(secrets, "secrets.bootstraptoken");
    const secretbox = this.#optional(secrets, "secrets.secretboxencryptionsecret");
    const aescbc = this.#optional(secrets, "secrets.aescbcencryptionsecret");
    const either = "[secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret]";
    if (secrets !== undefined && secretbox === "" && aescbc === "") this.faults.push(`one of ${either} is required`);
    if (secretbox !== "" && aescbc !== "") this.faults.push(`only one of ${either} is allowed`);
    const token = this.#text(this.#section("trustdinfo", ["token"]), "trustdinfo.token");
    const names = ["etcd", "k8s", "k8saggregator", "k8sserviceaccount", "os"];
    const certs = this.#section("certs", names);
    if (certs === undefined) return undefined;
    const etcd = this.#pair(certs, "etcd");
    const k8s = this.#pair(certs, "k8s");
    const k8sAggregator = this.#pair(certs, "k8saggregator");
    const k8sServiceAccount = this.#serviceAccount(certs);
    const os = this.#pair(certs, "os");
    const rotation = this.#rotation();
    const formerCas = this.#formerCas();
    if (!etcd || !k8s || !k8sAggregator || !k8sServiceAccount || !os) return undefined;
    return {
      cluster: { id, secret },
      secrets: given({
        bootstrapToken,
        secretboxEncryptionSecret: secretbox || undefined,
        aescbcEncryptionSecret: aescbc || undefined,
      }),
      trustdInfo: { token },
      certs: { etcd, k8s, k8sAggregator, k8sServiceAccount, os },
      rotation,
      formerCas,
    };
  }

  #rotation(): CaRotation | undefined {
    if (lookUp(this.#root, "rotation") === undefined) return undefined;
    const section = this.#section("rotation", ["phase", "os", "k8s"]);
    if (section === undefined) return undefined;
    const phase = this.#text(section, "rotation.phase");
    if (phase !== "accept" && phase !== "issue" && phase !== "drop") {
      this.faults.push(`rotation.phase is ${JSON.stringify(phase)}, expected accept, issue or drop`);
      return undefined;
    }
    const os = lookUp(section, "os") === undefined ? undefined : this.#pair(section, "os", "rotation.os");
    const k8s = lookUp(section, "k8s") === undefined ? undefined : this.#pair(section, "k8s", "rotation.k8s");
    return { phase, os, k8s };
  }

  #formerCas(): readonly string[] | undefined {
    const node = lookUp(this.#root, "formercas");
    if (node === undefined) return undefined;
    if (node.kind !== "sequence") throw faultAt(this.#fileName, node, "found no list at formercas");
    return node.items.map((item) => {
      if (item.kind !== "scalar") throw faultAt(this.#fileName, item, "found no fingerprint in formercas");
      return item.text;
    });
  }

  #section(
    name: string,
    keys: readonly string[],
    parent: YamlMapping = this.#root,
    path = name,
  ): YamlMapping | undefined {
    const node = lookUp(parent, name);
    if (node === undefined || (node.kind === "scalar" && node.plain && node.text === "")) {
      this.faults.push(`${path} is required`);
      return undefined;
    }
    if (node.kind !== "mapping") throw faultAt(this.#fileName, node, `found no map at ${path}`);
    this.#refuseUnknown(node, `${path}.`, keys);
    return node;
  }

  #refuseUnknown(mapping: YamlMapping, prefix: string, keys: readonly string[]): void {
    for (const { key } of mapping.entries) {
      if (keys.includes(key.text.toLowerCase())) continue;
      throw faultAt(this.#fileName, key, `unknown field ${prefix}${key.text}, expected one of ${keys.join(", ")}`);
    }
  }

  #optional(section: YamlMapping | undefined, path: string): string {
    const node = section === undefined ? undefined : lookUp(section, path.slice(path.lastIndexOf(".") + 1));
    if (node === undefined) return "";
    if (node.kind !== "scalar") throw faultAt(this.#fileName, node, `found no text at ${path}`);
    return node.text;
  }

  #text(section: YamlMapping | undefined, path: string): string {
    const text = this.#optional(section, path);
    if (text === "" && section !== undefined) this.faults.push(`${path} is required`);
    return text;
  }

  #pair(certs: YamlMapping, name: string, path = `certs.${name}`): KeyPair | undefined {
    const section = this.#section(name, ["crt", "key"], certs, path);
    if (section === undefined) return undefined;
    try {
      const certificate = fromBase64(this.#optional(section, `${path}.crt`), "certificate");
      const key = fromBase64(this.#optional(section, `${path}.key`), "key");
      loadCertificate(certificate, "certificate");
      checkKey(key, "key");
      if (!belongTogether({ certificate, key })) {
        throw new TalosError("invalid-input", "the key does not belong to the certificate");
      }
      return { certificate, key };
    } catch (error) {
      this.#invalid(path, section, error);
      return undefined;
    }
  }

  #serviceAccount(certs: YamlMapping): { readonly key: string } | undefined {
    const path = "certs.k8sserviceaccount";
    const section = this.#section("k8sserviceaccount", ["key"], certs, path);
    if (section === undefined) return undefined;
    try {
      const key = fromBase64(this.#optional(section, `${path}.key`), "key");
      checkKey(key, "key");
      return { key };
    } catch (error) {
      this.#invalid(`${path}.key`, section, error);
      return undefined;
    }
  }

  #invalid(path: string, { line, column }: YamlNode, error: unknown): void {
    this.faults.push(`${path} is invalid: ${TalosError.from(error).message} (line ${line}, column ${column})`);
  }
}

/** The entry under a key, whatever its case. */
function lookUp(mapping: YamlMapping, name: string): YamlNode | undefined {
  return mapping.entries.find((entry) => entry.key.text.toLowerCase() === name)?.value;
}

function fromBase64(text: string, what: string): string {
  if (text === "") throw new TalosError("invalid-input", `${what} is missing`);
  if (text === "******") throw new TalosError("invalid-input", `${what} is redacted`);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw new TalosError("invalid-input", `${what} is not base64`);
  }
  return Buffer.from(text, "base64").toString("utf8");
}

function bulletList(faults: readonly string[]): string {
  return faults.map((fault) => `  * ${fault}`).join("\n");
}
