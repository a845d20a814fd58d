// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import { belongTogether, createCertificateAuthority, decodePem } from "../../../talos/pki/index.ts";
import {
  bundleFile,
  caFingerprint,
  createToken,
  encodeSecrets,
  generateSecrets,
  importKubeadmPki,
  openProtectedText,
  openSecrets,
  parseAgeIdentities,
  parseSecrets,
  type SecretsBundle,
  secretsStore,
} from "../../../talos/secrets/index.ts";
import { Contract } from "../../../talos/version/index.ts";

const golden = new URL("../../golden/secrets/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, golden), "utf8");
const names = ["secrets-v1.12.yaml", "secrets-v1.13.yaml", "secrets-v1.14.yaml"] as const;
const options = { contract: Contract.parse("v1.13"), clock: systemClock, entropy: systemEntropy };

let directory: string;
let generated: SecretsBundle;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "talosmith-secrets-"));
  generated = await generateSecrets(options);
});
afterAll(() => rmSync(directory, { recursive: true }));

describe("the codec", () => {
  test.each(names)("reads %s and writes it back byte for byte", (name) => {
    expect(encodeSecrets(parseSecrets(read(name), name))).toBe(read(name));
  });

  test("reads the JSON form of other tools", () => {
    const { cluster, secrets, trustdInfo, certs } = generated;
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const pair = (from: { certificate: string; key: string }) => ({
      Crt: base64(from.certificate),
      Key: base64(from.key),
    });
    const json = JSON.stringify({
      Cluster: { Id: cluster.id, Secret: cluster.secret },
      Secrets: {
        BootstrapToken: secrets.bootstrapToken,
        SecretboxEncryptionSecret: secrets.secretboxEncryptionSecret,
      },
      TrustdInfo: { Token: trustdInfo.token },
      Certs: {
        Etcd: pair(certs.etcd),
        K8s: pair(certs.k8s),
        K8sAggregator: pair(certs.k8sAggregator),
        K8sServiceAccount: { Key: base64(certs.k8sServiceAccount.key) },
        OS: pair(certs.os),
      },
    });
    expect(parseSecrets(json, "secrets.json")).toEqual(generated);
  });

  const text = read("secrets-v1.13.yaml");
  const otherKey = /k8s:\n\s+crt: \S+\n\s+key: (\S+)/.exec(text)?.[1] ?? "";
  test.each([
    ["an empty file", "", "found no map, expected a secrets bundle"],
    ["no sections", "{}", "cluster is required"],
    ["a missing id", text.replace(/\n {4}id: .*/, ""), "cluster.id is required"],
    [
      "no encryption secret",
      text.replace(/\n {4}secretbox.*/, ""),
      "one of [secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret] is required",
    ],
    [
      "two encryption secrets",
      text.replace("secretboxenc", "aescbcencryptionsecret: eA==\n    secretboxenc"),
      "only one of [secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret] is allowed",
    ],
    ["no token", text.replace(/\n {4}token: .*/, '\n    token: ""'), "trustdinfo.token is required"],
    ["a missing CA", text.replace(/\n {4}etcd:\n.*\n.*/, ""), "certs.etcd is required"],
    [
      "wrong base64",
      text.replace(/(etcd:\n\s+crt: )/, "$1_-_-"),
      "certs.etcd is invalid: certificate is not base64 (line 11, column 9)",
    ],
    [
      "a redacted key",
      text.replace(/(etcd:\n\s+crt: \S+\n\s+key: )\S+/, "$1'******'"),
      "certs.etcd is invalid: key is redacted",
    ],
    [
      "another CA's key",
      text.replace(/(etcd:\n\s+crt: \S+\n\s+key: )\S+/, `$1${otherKey}`),
      "certs.etcd is invalid: the key does not belong to the certificate",
    ],
    [
      "no PEM inside",
      text.replace(/(k8sserviceaccount:\n\s+key: )\S+/, "$1aGVsbG8="),
      "certs.k8sserviceaccount.key is invalid: key is not PEM",
    ],
    ["an unknown field", `${text}extra: 1\n`, ":24:1: unknown field extra"],
    ["a field twice", text.replace("    id:", "    id: x\n    id:"), 'found key "id" again'],
  ])("refuses %s", (_, damaged, message) => {
    expect(() => parseSecrets(damaged, "s.yaml")).toThrow(expect.objectContaining({ code: "invalid-input" }));
    expect(() => parseSecrets(damaged, "s.yaml")).toThrow(message);
  });

  test("tells all faults at once, and no secret with them", () => {
    const damaged = text.replace(/\n {4}id: .*/, "").replace(/(etcd:\n\s+crt: )/, "$1_-_-");
    try {
      parseSecrets(damaged, "s.yaml");
      expect.unreachable();
    } catch (error) {
      const message = String(error);
      expect(message).toContain("cluster.id is required");
      expect(message).toContain("certs.etcd is invalid");
      for (const secret of text.match(/[A-Za-z0-9+/=_.-]{16,}/g) ?? []) expect(message).not.toContain(secret);
    }
  });
});

describe("a generated bundle", () => {
  test("passes its own check", () => {
    expect(parseSecrets(encodeSecrets(generated), "s.yaml")).toEqual(generated);
  });

  test.each([
    ["etcd", "O=etcd", "EC PRIVATE KEY"],
    ["k8s", "O=kubernetes", "EC PRIVATE KEY"],
    ["k8sAggregator", "", "EC PRIVATE KEY"],
    ["os", "O=talos", "ED25519 PRIVATE KEY"],
  ] as const)("has a CA %s with subject %j and Talos's key label", (name, subject, label) => {
    const pair = generated.certs[name];
    expect(new X509Certificate(pair.certificate).subject ?? "").toBe(subject);
    expect(decodePem(pair.key, "key").label).toBe(label);
    expect(belongTogether(pair)).toBe(true);
  });

  test("has an RSA key for service accounts", () => {
    expect(decodePem(generated.certs.k8sServiceAccount.key, "key").label).toBe("RSA PRIVATE KEY");
  });

  test.each([
    ["v1.13", /^[A-Za-z0-9_-]{43}=$/],
    ["v1.14", /^[A-Za-z0-9+/]{43}=$/],
  ])("has a cluster id in the alphabet of contract %s", async (contract, pattern) => {
    // 0xfb 0xff give the two characters that differ between the alphabets.
    const entropy = (count: number): Uint8Array => new Uint8Array(count).fill(count === 32 ? 0xfb : 7);
    const known = { certs: generated.certs };
    const bundle = await generateSecrets({ ...options, contract: Contract.parse(contract), entropy }, known);
    expect(bundle.cluster.id).toMatch(pattern);
  });

  test("has tokens of six and sixteen characters without favour", () => {
    expect(generated.secrets.bootstrapToken).toMatch(/^[0-9a-z]{6}\.[0-9a-z]{16}$/);
    const bytes = [252, 255, 0, 35, 36, 251, 10, 11, 12];
    let at = 0;
    const token = createToken((count) => Uint8Array.from({ length: count }, () => bytes[at++ % bytes.length] ?? 0));
    expect(token).toBe("0z0zab.c0z0zabc0z0zabc0");
  });

  test("is known by a public fingerprint", () => {
    expect(caFingerprint(generated)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });
});

describe("the stores", () => {
  const recipientOf = async () => {
    const identity = await generateX25519Identity();
    return { identity, recipient: await identityToRecipient(identity) };
  };

  test("a plain file is private, and never replaced unless asked", async () => {
    const path = join(directory, "deep", "secrets.yaml");
    const store = secretsStore({ kind: "file", path });
    await store.create(generated);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await store.read()).toEqual(generated);
    const before = readFileSync(path, "utf8");
    const other = { ...generated, trustdInfo: { token: "aaaaaa.bbbbbbbbbbbbbbbb" } };
    await expect(store.create(other)).rejects.toThrow("already exists, use --force to overwrite");
    expect(readFileSync(path, "utf8")).toBe(before);
    await store.create(other, { replace: true });
    expect(await store.read()).toEqual(other);
  });

  test("of two writers at once exactly one wins", async () => {
    const path = join(directory, "race.yaml");
    const store = secretsStore({ kind: "file", path });
    const results = await Promise.allSettled([store.create(generated), store.create(generated)]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("a missing file says how to make one", async () => {
    await expect(secretsStore({ kind: "file", path: join(directory, "none.yaml") }).read()).rejects.toThrow(
      expect.objectContaining({ code: "not-found", hint: expect.stringContaining("talosmith gen secrets") }),
    );
  });

  test("an age file opens with its identity and no other", async () => {
    const path = join(directory, "secrets.age");
    const { identity, recipient } = await recipientOf();
    await secretsStore({ kind: "age", path, recipients: [recipient] }).create(generated);
    expect(readFileSync(path, "utf8")).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const identities = parseAgeIdentities(`# created: today\n# public key: ${recipient}\n${identity}\n\n`);
    expect(await secretsStore({ kind: "age", path, identities }).read()).toEqual(generated);
    const stranger = await recipientOf();
    await expect(secretsStore({ kind: "age", path, identities: [stranger.identity] }).read()).rejects.toThrow(
      "none of the age identities opens the file",
    );
  });

  test("the file of a bundle is created by its name, and opened as it is", async () => {
    const { identity, recipient } = await recipientOf();
    const env = { SOPS_AGE_KEY: identity };
    const named = join(directory, "by-name.age");
    await bundleFile({ path: named, recipients: [recipient] }, env).create(generated);
    expect(readFileSync(named, "utf8")).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----/);
    const renamed = join(directory, "by-name.yaml");
    copyFileSync(named, renamed);
    expect(await bundleFile({ path: renamed }, env).read()).toEqual(generated);
    await expect(bundleFile({ path: renamed, protection: "file" }, env).read()).rejects.toThrow("by-name.yaml");
    await expect(bundleFile({ path: join(directory, "none") }, env).read()).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("an age file may be the one that the age program writes unless told otherwise", async () => {
    const path = join(directory, "binary.age");
    const identity = await generateX25519Identity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    writeFileSync(path, await encrypter.encrypt(encodeSecrets(generated)));
    expect(await secretsStore({ kind: "age", path, identities: [identity] }).read()).toEqual(generated);
    expect(await openSecrets(path, { SOPS_AGE_KEY: identity })).toEqual(generated);
    expect(await openProtectedText(path, { SOPS_AGE_KEY: identity })).toBe(encodeSecrets(generated));
  });

  test.each([
    ["no recipient", [], "no age recipient"],
    ["a wrong recipient", ["age1nonsense"], "is not an age recipient"],
  ] as const)("an age file with %s is not written", async (_, recipients, message) => {
    const path = join(directory, "unwritten.age");
    await expect(secretsStore({ kind: "age", path, recipients }).create(generated)).rejects.toThrow(message);
    expect(() => statSync(path)).toThrow();
  });

  test("a sops file goes through the program's pipes, not its arguments", async () => {
    // Stands in for sops: reverses every line, and notes its arguments.
    const program = join(directory, "sops");
    const log = join(directory, "arguments");
    writeFileSync(
      program,
      `#!/bin/sh\necho "$@" >> ${log}\ncase "$1" in --encrypt) rev ;; --decrypt) rev < "$4" ;; esac\n`,
    );
    chmodSync(program, 0o700);
    const path = join(directory, "secrets.sops.yaml");
    const store = secretsStore({ kind: "sops", path, program });
    await store.create(generated);
    expect(readFileSync(path, "utf8")).not.toContain(generated.trustdInfo.token);
    expect(await store.read()).toEqual(generated);
    expect(readFileSync(log, "utf8")).not.toContain(generated.trustdInfo.token);
  });

  test.each(["file", "age"] as const)("a link to the file (%s) is kept when the CAs are exchanged", async (kind) => {
    const { identity, recipient } = await recipientOf();
    const [path, kept] = [join(directory, `link.${kind}`), join(directory, `kept.${kind}`)];
    symlinkSync(kept, path);
    const store = secretsStore({ kind, path, recipients: [recipient], identities: [identity] });
    await store.create(generated);
    const next = { ...generated, trustdInfo: { token: "aaaaaa.bbbbbbbbbbbbbbbb" } };
    await store.exchange(generated, next);
    expect(readlinkSync(path)).toBe(kept);
    expect(await secretsStore({ kind, path: kept, identities: [identity] }).read()).toEqual(next);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
  });

  test("a missing sops says so", async () => {
    const store = secretsStore({ kind: "sops", path: join(directory, "x.yaml"), program: join(directory, "no-sops") });
    await expect(store.create(generated)).rejects.toThrow("was not found");
  });
});

describe("a kubeadm PKI directory", () => {
  const authority = (organization: string) =>
    createCertificateAuthority({ organization, kind: "ecdsa-p256", clock: systemClock, entropy: systemEntropy });
  const layOut = (name: string, change: (files: Record<string, string>) => void = () => {}): string => {
    const [ca, etcd, proxy] = [authority("kubernetes"), authority("etcd-ca"), authority("front-proxy-ca")];
    const files: Record<string, string> = {
      "ca.crt": ca.certificate,
      "ca.key": ca.key,
      "etcd/ca.crt": etcd.certificate,
      "etcd/ca.key": etcd.key,
      "front-proxy-ca.crt": proxy.certificate,
      "front-proxy-ca.key": proxy.key,
      "sa.key": generated.certs.k8sServiceAccount.key,
    };
    change(files);
    const root = join(directory, name);
    mkdirSync(join(root, "etcd"), { recursive: true });
    for (const [file, content] of Object.entries(files)) writeFileSync(join(root, file), content);
    return root;
  };

  test("gives its CAs, key and token, and the rest is generated", async () => {
    const root = layOut("pki");
    const bundle = await importKubeadmPki(root, "abcdef.0123456789abcdef", options);
    expect(bundle.certs.k8s.certificate).toBe(readFileSync(join(root, "ca.crt"), "utf8"));
    expect(bundle.certs.etcd.key).toBe(readFileSync(join(root, "etcd/ca.key"), "utf8"));
    expect(bundle.certs.k8sAggregator.certificate).toBe(readFileSync(join(root, "front-proxy-ca.crt"), "utf8"));
    expect(bundle.certs.k8sServiceAccount.key).toBe(generated.certs.k8sServiceAccount.key);
    expect(bundle.secrets.bootstrapToken).toBe("abcdef.0123456789abcdef");
    expect(parseSecrets(encodeSecrets(bundle), "s.yaml")).toEqual(bundle);
  });

  test.each([
    ["a missing file", (files: Record<string, string>) => delete files["sa.key"], "sa.key: no such file or directory"],
    [
      "a foreign key",
      (files: Record<string, string>) => (files["ca.key"] = files["etcd/ca.key"] ?? ""),
      "is not the key of",
    ],
    ["a damaged certificate", (files: Record<string, string>) => (files["ca.crt"] = "hello"), "is not PEM"],
  ])("is refused with %s", async (name, change, message) => {
    await expect(importKubeadmPki(layOut(name, change), "", options)).rejects.toThrow(message);
  });
});
