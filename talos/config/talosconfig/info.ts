// SPDX-License-Identifier: Apache-2.0
import { loadCertificate } from "../../pki/index.ts";
import { knownRoles, type Role } from "./roles.ts";
import type { TalosContext } from "./talosconfig.ts";

/** What the client certificate of a context allows, and until when. */
export interface CertificateInfo {
  readonly roles: readonly Role[];
  readonly notAfter: Date;
}

/** Undefined when the context has no certificate. Throws when it cannot be read. */
export function certificateInfo(context: TalosContext): CertificateInfo | undefined {
  const pem = context.credentials?.certificate ?? context.incomplete?.certificate;
  if (pem === undefined) return undefined;
  const certificate = loadCertificate(pem);
  // One organization is a text, several are a list.
  const organizations: unknown = certificate.toLegacyObject().subject.O ?? [];
  return { roles: knownRoles([organizations].flat().map(String)), notAfter: new Date(certificate.validTo) };
}
