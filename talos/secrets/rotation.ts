// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import { type CaRotation, caFingerprint, type RotatedCa, type SecretsBundle } from "./bundle.ts";
import { createCa } from "./generate.ts";

export interface RotationStart {
  /** Which CAs get successors. */
  readonly cas: readonly RotatedCa[];
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** The bundle with new CAs that are to be accepted: the first of the bundles that machines have to go through. */
export function beginRotation(bundle: SecretsBundle, { cas, clock, entropy }: RotationStart): SecretsBundle {
  if (bundle.rotation !== undefined) throw new TalosError("conflict", "the CAs are being exchanged already");
  if (cas.length === 0) throw new TalosError("invalid-input", "no CA was chosen to be exchanged");
  const fresh = Object.fromEntries(cas.map((ca) => [ca, createCa(ca, { clock, entropy })]));
  return { ...bundle, rotation: { phase: "accept", ...fresh } };
}

/** The bundle after this one, once all machines have configs of this one; undefined after the last. */
export function nextBundle(bundle: SecretsBundle): SecretsBundle | undefined {
  const { rotation, ...rest } = bundle;
  if (rotation === undefined) return undefined;
  if (rotation.phase === "accept") return swapped(rest, rotation);
  return rotation.phase === "issue" ? { ...rest, rotation: { phase: "drop" } } : rest;
}

function swapped(bundle: SecretsBundle, { os, k8s }: CaRotation): SecretsBundle {
  const { certs, formerCas = [] } = bundle;
  return {
    ...bundle,
    certs: { ...certs, os: os ?? certs.os, k8s: k8s ?? certs.k8s },
    rotation: { phase: "issue", os: os && certs.os, k8s: k8s && certs.k8s },
    formerCas: os === undefined ? bundle.formerCas : [...formerCas, caFingerprint(bundle)],
  };
}
