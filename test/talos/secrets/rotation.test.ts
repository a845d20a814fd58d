// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import { generateMachineConfig, MachineConfig, validateConfig } from "../../../talos/config/index.ts";
import {
  acceptedCas,
  beginRotation,
  caFingerprint,
  encodeSecrets,
  hideSecrets,
  knownFingerprints,
  nextBundle,
  parseSecrets,
  type RotatedCa,
  type SecretsBundle,
  trustedCas,
} from "../../../talos/secrets/index.ts";
import { TalosVersion } from "../../../talos/version/index.ts";
import { testSecrets } from "../../engine/fixture.ts";

const issuing = { clock: systemClock, entropy: systemEntropy };
const begin = (...cas: RotatedCa[]) => beginRotation(testSecrets(), { cas, ...issuing });

function all(first: SecretsBundle): readonly SecretsBundle[] {
  const next = nextBundle(first);
  return next === undefined ? [first] : [first, ...all(next)];
}

describe("an exchange of CAs", () => {
  const old = testSecrets();
  const [accept, issue, drop, done] = all(begin("os", "k8s")) as [
    SecretsBundle,
    SecretsBundle,
    SecretsBundle,
    SecretsBundle,
  ];

  test("goes from the old CAs over both to the new ones, and leaves everything else as it was", () => {
    for (const ca of ["os", "k8s"] as const) {
      const [before, after] = [old.certs[ca].certificate, done.certs[ca].certificate];
      expect(after).not.toBe(before);
      expect([accept, issue, drop, done].map((bundle) => trustedCas(bundle, ca))).toEqual([
        before + after,
        after + before,
        after,
        after,
      ]);
    }
    const { os: _o, k8s: _k, ...kept } = done.certs;
    expect(old.certs).toMatchObject(kept);
    expect({ ...done, certs: old.certs, formerCas: undefined }).toEqual({ ...old, formerCas: undefined });
  });

  test("may be of one CA alone", () => {
    expect(begin("k8s").rotation?.os).toBeUndefined();
    expect(all(begin("k8s")).at(-1)?.certs.os).toEqual(old.certs.os);
    expect(all(begin("os")).at(-1)?.certs.k8s).toEqual(old.certs.k8s);
    expect(() => begin()).toThrow(/no CA/);
    expect(() => beginRotation(accept, { cas: ["os"], ...issuing })).toThrow(/already/);
  });

  test("is kept in the bundle's file at every point", () => {
    for (const bundle of [accept, issue, drop, done])
      expect(parseSecrets(encodeSecrets(bundle), "secrets.yaml")).toEqual(bundle);
    const broken = encodeSecrets(accept).replace("phase: accept", "phase: later");
    expect(() => parseSecrets(broken, "secrets.yaml")).toThrow(
      /rotation\.phase is "later", expected accept, issue or drop/,
    );
  });

  test("shows no key of either CA", () => {
    const key = accept.rotation?.os?.key ?? "";
    expect(hideSecrets(accept)(`found ${key}`)).toBe("found ******");
  });

  test("leaves a cluster known by the fingerprint that it had before", () => {
    for (const bundle of [accept, issue, drop, done]) expect(knownFingerprints(bundle)).toContain(caFingerprint(old));
    expect(caFingerprint(done)).not.toBe(caFingerprint(old));
  });

  test.each([
    ["v1.13.9", "controlplane", "1.36.3"],
    ["v1.13.9", "worker", "1.36.3"],
    ["v1.14.0", "controlplane", "1.36.3"],
    ["v1.14.0", "worker", "1.36.3"],
  ] as const)(
    "makes valid configs of %s for a %s at every point, without the old keys in the end",
    (talos, type, kubernetes) => {
      const cluster = {
        clusterName: "lab",
        endpoint: "https://10.0.0.1:6443",
        talosVersion: TalosVersion.parse(talos),
        kubernetesVersion: kubernetes,
      };
      const texts = [old, accept, issue, drop, done].map((bundle) => generateMachineConfig(cluster, bundle, { type }));
      for (const text of texts)
        expect(validateConfig(new MachineConfig(text), { mode: "metal" }).error).toBeUndefined();
      expect(texts.map((text) => text.includes("acceptedCAs") && acceptedIn(text))).toEqual(
        [old, accept, issue, drop, done].map((bundle) =>
          talos === "v1.14.0" && type === "worker" ? true : acceptedCas(bundle, "os").length > 0,
        ),
      );
    },
  );
});

const acceptedIn = (text: string) => /acceptedCAs:\n\s+- /.test(text);
