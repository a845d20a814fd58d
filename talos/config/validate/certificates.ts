// SPDX-License-Identifier: Apache-2.0
import { checkKey, loadCertificate, pemBlocks } from "../../pki/index.ts";
import { type Section, sectionAt, textAt, textsAt } from "../document/value.ts";
import { about, type Faults, quoted } from "./findings.ts";

/** What is wrong with a CA document: the pair that signs, and the certificates that are accepted beside it. */
export function* authorityFaults(document: Section): Faults {
  yield* about("issuing CA", pairFault(sectionAt(document, "issuingCA"), { loaded: true }));
  for (const [index, ca] of textsAt(document, "acceptedCAs").entries())
    yield* about(`accepted CA #${index}`, pemFault(ca, "CERTIFICATE"));
}

/** What is wrong with a certificate and its key; both are read where the machine loads them. */
export function pairFault(pair: Section | undefined, { loaded }: { readonly loaded: boolean }): string | undefined {
  if (pair === undefined) return undefined;
  const [certificate, key] = [textAt(pair, "cert"), textAt(pair, "key")];
  if (certificate === "") return "certificate is required";
  if (key === "") return "key is required";
  const certificateFault = pemFault(certificate, "CERTIFICATE");
  if (certificateFault !== undefined) return `certificate: ${certificateFault}`;
  const fault = pemFault(key);
  if (fault !== undefined) return `key: ${fault}`;
  if (!loaded) return undefined;
  if (fails(() => loadCertificate(certificate))) return "certificate is invalid: x509: malformed certificate";
  return keyFault(key, ":") === undefined ? undefined : `key is invalid: ${keyFault(key, ":")}`;
}

const keyLabels = ["RSA PRIVATE KEY", "EC PRIVATE KEY", "ED25519 PRIVATE KEY", "PRIVATE KEY"];

/** What is wrong with a private key. Talos writes the colon in one place and not in the other. */
export function keyFault(key: string, colon: "" | ":" = ""): string | undefined {
  const [block] = pemBlocks(key);
  if (block === undefined) return "failed to parse PEM block";
  if (!keyLabels.includes(block.label)) return `unsupported key type${colon} ${quoted(block.label)}`;
  return fails(() => checkKey(key, "key")) ? "failed to parse the key" : undefined;
}

/** Every block must be of the kind; there must be one at least. */
function pemFault(text: string, label?: string): string | undefined {
  const blocks = pemBlocks(text);
  const other = label === undefined ? undefined : blocks.find((block) => block.label !== label);
  if (other !== undefined)
    return `unexpected PEM block type ${quoted(other.label)}, expected one of [${quoted(label ?? "")}]`;
  return blocks.length === 0 ? "no PEM blocks found" : undefined;
}

function fails(attempt: () => unknown): boolean {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}
