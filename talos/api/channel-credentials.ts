// SPDX-License-Identifier: Apache-2.0
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContext } from "node:tls";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { TalosError } from "../errors.ts";
import { encodePem, keyForNode, publicKeyFingerprint } from "../pki/index.ts";
import type { Credentials } from "./authentication.ts";

/** Reading keys and certificates takes longer than the handshake that uses them, and many machines share them. */
const contexts = new WeakMap<Credentials, SecureContext>();

function contextOf(own: Credentials): SecureContext {
  const known = contexts.get(own);
  if (known !== undefined) return known;
  const { ca, certificate, key } = own;
  const context = createSecureContext({ ca, cert: certificate, key: keyForNode(key), minVersion: "TLSv1.3" });
  contexts.set(own, context);
  return context;
}

/** Both sides show certificates; the machine's must be signed by our CA and name the host that we asked for. */
export function mutualCredentials(own: Credentials, host: string): ChannelCredentials {
  return credentials.createFromSecureContext(contextOf(own), {
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  });
}

/** Trusts exactly one certificate, whatever names are in it, and checks its fingerprint again in each handshake. */
export function pinnedCredentials(certificate: string, node: string): ChannelCredentials {
  const expected = publicKeyFingerprint(certificate);
  const context = createSecureContext({ ca: certificate, allowPartialTrustChain: true, minVersion: "TLSv1.3" });
  return credentials.createFromSecureContext(context, {
    checkServerIdentity: (_name, peer: PeerCertificate) => {
      const shown = publicKeyFingerprint(encodePem("CERTIFICATE", peer.raw));
      return shown === expected ? undefined : fingerprintMismatch(node, shown, [expected]);
    },
  });
}

export function fingerprintMismatch(node: string, shown: string, expected: readonly string[]): TalosError {
  return new TalosError(
    "permission-denied",
    `${node}: leaf peer certificate doesn't match the provided fingerprints: [${expected.join(" ")}], it is ${shown}`,
    { node, hint: "Compare it with the fingerprint on the machine's console. If another machine answers, stop here." },
  );
}
