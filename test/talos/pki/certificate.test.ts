// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import {
  belongTogether,
  createCertificateAuthority,
  createRsaKey,
  decodePem,
  issueCertificate,
  type KeyPair,
  keyForNode,
  publicKeyFingerprint,
} from "../../../talos/pki/index.ts";

const kinds = ["ed25519", "ecdsa-p256"] as const;
const now = new Date("2026-11-16T07:30:00Z");
const clock = { now: () => now };
const day = 86_400_000;
const terms = {
  notBefore: now,
  notAfter: new Date(now.getTime() + 365 * day),
  usages: ["serverAuth", "clientAuth"],
} as const;

/** A repeatable stream of bytes. */
function fixedEntropy(seed: string): (count: number) => Uint8Array {
  let round = 0;
  return (count) => {
    round += 1;
    return createHash("shake256", { outputLength: count }).update(`${seed}/${round}`).digest();
  };
}

function authority(kind: (typeof kinds)[number]): KeyPair {
  return createCertificateAuthority({ organization: "talos", kind, clock: systemClock, entropy: systemEntropy });
}

describe("OpenSSL", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "talosmith-pki-"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const file = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const openssl = (...args: readonly string[]): string => execFileSync("openssl", args, { encoding: "utf8" });

  test.each(kinds)("verifies a %s leaf against its CA in strict mode", (kind) => {
    const ca = authority(kind);
    const leaf = issueCertificate(
      ca,
      {
        subject: { commonName: "node-1", organizations: ["os:admin", "os:reader"] },
        dnsNames: ["node-1", "node-1.example.org"],
        ipAddresses: ["127.0.0.1", "fd00::7"],
        notBefore: new Date(Date.now() - day),
        notAfter: new Date(Date.now() + day),
        usages: ["serverAuth", "clientAuth"],
        keyUsages: ["digitalSignature", "keyEncipherment"],
      },
      { entropy: systemEntropy },
    );
    const caFile = file(`${kind}-ca.pem`, ca.certificate);
    const leafFile = file(`${kind}-leaf.pem`, leaf.certificate);
    expect(openssl("verify", "-x509_strict", "-CAfile", caFile, leafFile)).toContain("OK");
    const printed = openssl("x509", "-in", leafFile, "-noout", "-text");
    expect(printed).toContain(
      "DNS:node-1, DNS:node-1.example.org, IP Address:127.0.0.1, IP Address:FD00:0:0:0:0:0:0:7",
    );
    expect(printed).toContain("Subject: O = os:admin + O = os:reader, CN = node-1");
    expect(printed).toMatch(/X509v3 Key Usage: critical\s+Digital Signature, Key Encipherment/);
    expect(openssl("pkey", "-in", file(`${kind}-key.pem`, keyForNode(leaf.key)), "-noout", "-check")).toContain(
      "valid",
    );
  });
});

describe("a certificate authority", () => {
  const ca = createCertificateAuthority({ organization: "talos", kind: "ed25519", clock, entropy: fixedEntropy("a") });
  const certificate = new X509Certificate(ca.certificate);

  test("lives 87600 hours from the clock's time, and is valid an hour before it", () => {
    expect(certificate.validFrom).toBe("Nov 16 06:30:00 2026 GMT");
    expect(certificate.validTo).toBe("Nov 13 07:30:00 2036 GMT");
  });

  test("is self-signed, with the organization alone as its subject", () => {
    expect([certificate.subject, certificate.issuer]).toEqual(["O=talos", "O=talos"]);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(true);
  });

  test("has no subject when no organization is named", () => {
    const { certificate: pem } = createCertificateAuthority({ kind: "ecdsa-p256", clock, entropy: fixedEntropy("b") });
    expect(new X509Certificate(pem).subject).toBeFalsy();
  });

  test("comes out the same from the same time and entropy", () => {
    const again = createCertificateAuthority({
      organization: "talos",
      kind: "ed25519",
      clock,
      entropy: fixedEntropy("a"),
    });
    expect(again).toEqual(ca);
  });

  test.each([
    ["ed25519", "ED25519 PRIVATE KEY"],
    ["ecdsa-p256", "EC PRIVATE KEY"],
  ] as const)("labels its %s key as Talos does", (kind, label) => {
    expect(decodePem(authority(kind).key, "key").label).toBe(label);
  });
});

test("the fingerprint is the base64 SHA-256 of the public key", () => {
  const ca = authority("ed25519");
  const spki = new X509Certificate(ca.certificate).publicKey.export({ type: "spki", format: "der" });
  expect(publicKeyFingerprint(ca.certificate)).toBe(createHash("sha256").update(spki).digest("base64"));
});

test("a key of another pair does not belong to the certificate", () => {
  const [left, right] = [authority("ed25519"), authority("ed25519")];
  expect(belongTogether(left)).toBe(true);
  expect(belongTogether({ certificate: left.certificate, key: right.key })).toBe(false);
});

test("an RSA-4096 key is made while the event loop goes on", async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const key = await createRsaKey();
  clearInterval(timer);
  expect(decodePem(key, "key").label).toBe("RSA PRIVATE KEY");
  expect(turns).toBeGreaterThan(0);
});

test("a damaged key is refused without repeating it", () => {
  const broken = "-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n";
  expect(() =>
    issueCertificate(
      { ...authority("ecdsa-p256"), key: broken },
      { subject: {}, ...terms },
      { entropy: systemEntropy },
    ),
  ).toThrow(/^CA key cannot be read: unsupported or damaged private key$/);
});
