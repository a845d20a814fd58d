// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { loadCertificate, pemBlocks } from "../pki/index.ts";

/** A certificate in one line: subject, end and fingerprint. Undefined when the text, plain or in base64, is none. */
export function certificateSummary(text: string): string | undefined {
  const pem = text.startsWith("LS0tLS1CRUdJTi") ? Buffer.from(text, "base64").toString("utf8") : text;
  const blocks = pemBlocks(pem);
  if (blocks.length === 0 || blocks.some(({ label }) => label !== "CERTIFICATE")) return undefined;
  const hash = createHash("sha256");
  for (const { bytes } of blocks) hash.update(bytes);
  const fingerprint = `SHA-256 ${hash.digest("hex")}`;
  if (blocks.length > 1) return `${blocks.length} certificates, ${fingerprint}`;
  try {
    const { subject, validTo } = loadCertificate(pem);
    const name = (subject ?? "").split("\n").join(", ") || "without a subject";
    return `certificate ${name}, until ${new Date(validTo).toISOString().slice(0, 10)}, ${fingerprint}`;
  } catch {
    return `damaged certificate, ${fingerprint}`;
  }
}
