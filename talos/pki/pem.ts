// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";

export interface PemBlock {
  readonly label: string;
  readonly bytes: Buffer;
}

/** Writes one PEM block with 64 characters to a line and a final newline, as Go does. */
export function encodePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.map((line) => `${line}\n`).join("")}-----END ${label}-----\n`;
}

/** A PEM text as configs and client files hold it. */
export function toBase64(pem: string): string {
  return Buffer.from(pem, "utf8").toString("base64");
}

export function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/;

/** All blocks of a PEM text, in order; what is not base64 inside is no block. */
export function pemBlocks(text: string): readonly PemBlock[] {
  return [...text.matchAll(new RegExp(block, "g"))]
    .map(([, label = "", body = ""]) => ({ label, body: body.replace(/\s/g, "") }))
    .filter(({ body }) => body.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(body))
    .map(({ label, body }) => ({ label, bytes: Buffer.from(body, "base64") }));
}

/** Reads the first block of a PEM text. `what` names it in the error; the text itself is never repeated. */
export function decodePem(text: string, what: string): PemBlock {
  const match = block.exec(text);
  const [, label, body] = match ?? [];
  if (label === undefined || body === undefined) {
    throw new TalosError("invalid-input", `${what} is not PEM: failed to parse PEM block`);
  }
  return { label, bytes: Buffer.from(body, "base64") };
}
