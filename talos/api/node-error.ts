// SPDX-License-Identifier: Apache-2.0
import type { TalosErrorCode } from "../errors.ts";
import { TalosError } from "../errors.ts";

type Reason = readonly [code: TalosErrorCode, says: string, hint?: string];

const cut: Reason = ["unavailable", "the connection was cut"];
const notOurs: Reason = ["permission-denied", "its certificate is not signed by our CA"];
const refused: Reason = ["permission-denied", "it refuses our client certificate"];
const clocks = "Check the clocks on both sides.";

/** The only place that knows the codes of Node's sockets and TLS. */
const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: ["unavailable", "the connection was refused", "The machine is up, but nothing listens there (yet)."],
  ECONNRESET: cut,
  EPIPE: cut,
  ETIMEDOUT: ["unavailable", "no answer in time", "Check that the address is right and no firewall drops the port."],
  EHOSTUNREACH: ["unavailable", "there is no route to the host"],
  ENETUNREACH: ["unavailable", "there is no route to the network"],
  EHOSTDOWN: ["unavailable", "the host is down"],
  EADDRNOTAVAIL: ["unavailable", "no local address can reach it"],
  ENOTFOUND: ["unavailable", "the host name is not known", "Check the name, or use the IP address."],
  EAI_AGAIN: ["unavailable", "the name server did not answer"],
  CERT_HAS_EXPIRED: ["failed-precondition", "its certificate has expired", clocks],
  CERT_NOT_YET_VALID: ["failed-precondition", "its certificate is not valid yet", clocks],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: notOurs,
  SELF_SIGNED_CERT_IN_CHAIN: notOurs,
  DEPTH_ZERO_SELF_SIGNED_CERT: notOurs,
  UNABLE_TO_GET_ISSUER_CERT: notOurs,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: notOurs,
  CERT_SIGNATURE_FAILURE: notOurs,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "permission-denied",
    "its certificate is for other addresses",
    "Reach the machine by an address that is in its certificate, or add this one to the machine's certSANs.",
  ],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ["permission-denied", "it asks for a client certificate"],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ["permission-denied", "it does not know the CA of our client certificate"],
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: refused,
  ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR: refused,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: [
    "permission-denied",
    "by its clock our client certificate has expired or is not valid yet",
    "Compare its clock with this machine's (talosctl time); renew a client file that is older than a year with talosmith deploy.",
  ],
};

/** Turns an error of a socket or of TLS into ours, naming the machine. Anything unknown is `unavailable`. */
export function fromNodeError(error: unknown, node: string): TalosError {
  if (error instanceof TalosError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const isCoded = typeof error === "object" && error !== null && "code" in error;
  const [code, says, hint]: Reason = reasons[isCoded ? String(error.code) : ""] ?? ["unavailable", text];
  return new TalosError(code, `${node}: ${says}`, { node, cause: error, hint });
}

/** The same, for text in which a library has buried the code, such as a gRPC status. */
export function fromNodeErrorText(text: string, node: string, cause: unknown): TalosError | undefined {
  const found =
    Object.keys(reasons).find((name) => text.includes(name)) ?? phrases.find(([phrase]) => text.includes(phrase))?.[1];
  const reason = found === undefined ? undefined : reasons[found];
  if (reason === undefined) return undefined;
  const [code, says, hint] = reason;
  return new TalosError(code, `${node}: ${pathTo(text, node)}${says}`, { node, cause, hint });
}

/** A machine that has asked another, or a service of its own, says which one did not answer. */
function pathTo(text: string, node: string): string {
  const [, target] = /dial tcp (\S+:\d+):/.exec(text) ?? [];
  return target === undefined || target.startsWith(`${node}:`) ? "" : `${target}: `;
}

const phrases: readonly (readonly [string, string])[] = [
  // In the words of Go, where a machine has asked another.
  ["connect: connection refused", "ECONNREFUSED"],
  ["connection reset by peer", "ECONNRESET"],
  ["connect: no route to host", "EHOSTUNREACH"],
  ["network is unreachable", "ENETUNREACH"],
  ["i/o timeout", "ETIMEDOUT"],
  ["no such host", "ENOTFOUND"],
  ["unable to verify the first certificate", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["unable to get local issuer certificate", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  ["certificate signature failure", "CERT_SIGNATURE_FAILURE"],
  ["certificate has expired", "CERT_HAS_EXPIRED"],
  ["certificate is not yet valid", "CERT_NOT_YET_VALID"],
  ["does not match certificate's altnames", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ["alert certificate required", "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"],
  ["alert number 116", "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"],
  ["alert unknown ca", "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"],
  ["alert bad certificate", "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE"],
  ["alert certificate expired", "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED"],
  ["alert decrypt error", "ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR"],
];
