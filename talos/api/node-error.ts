// SPDX-License-Identifier: Apache-2.0
import type { TalosErrorCode } from "../errors.ts";
import { TalosError } from "../errors.ts";

interface Reason {
  readonly code: TalosErrorCode;
  readonly says: string;
  readonly hint?: string;
}

/** The only place that knows the codes of Node's sockets and TLS. */
const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    code: "unavailable",
    says: "the connection was refused",
    hint: "The machine is up, but nothing listens there (yet).",
  },
  ECONNRESET: { code: "unavailable", says: "the connection was cut" },
  EPIPE: { code: "unavailable", says: "the connection was cut" },
  ETIMEDOUT: {
    code: "unavailable",
    says: "no answer in time",
    hint: "Check that the address is right and no firewall drops the port.",
  },
  EHOSTUNREACH: { code: "unavailable", says: "there is no route to the host" },
  ENETUNREACH: { code: "unavailable", says: "there is no route to the network" },
  EHOSTDOWN: { code: "unavailable", says: "the host is down" },
  EADDRNOTAVAIL: { code: "unavailable", says: "no local address can reach it" },
  ENOTFOUND: {
    code: "unavailable",
    says: "the host name is not known",
    hint: "Check the name, or use the IP address.",
  },
  EAI_AGAIN: { code: "unavailable", says: "the name server did not answer" },
  CERT_HAS_EXPIRED: {
    code: "failed-precondition",
    says: "its certificate has expired",
    hint: "Check the clocks on both sides.",
  },
  CERT_NOT_YET_VALID: {
    code: "failed-precondition",
    says: "its certificate is not valid yet",
    hint: "Check the clocks on both sides.",
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  SELF_SIGNED_CERT_IN_CHAIN: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  DEPTH_ZERO_SELF_SIGNED_CERT: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  UNABLE_TO_GET_ISSUER_CERT: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  CERT_SIGNATURE_FAILURE: { code: "permission-denied", says: "its certificate is not signed by our CA" },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    code: "permission-denied",
    says: "its certificate is for other addresses",
    hint: "Reach the machine by an address that is in its certificate, or add this one to the machine's certSANs.",
  },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: { code: "permission-denied", says: "it asks for a client certificate" },
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: {
    code: "permission-denied",
    says: "it does not know the CA of our client certificate",
  },
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: { code: "permission-denied", says: "it refuses our client certificate" },
  ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR: { code: "permission-denied", says: "it refuses our client certificate" },
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: { code: "permission-denied", says: "our client certificate has expired" },
};

/** Turns an error of a socket or of TLS into ours, naming the machine. Anything unknown is `unavailable`. */
export function fromNodeError(error: unknown, node: string): TalosError {
  if (error instanceof TalosError) return error;
  const reason = reasonOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (reason === undefined) return new TalosError("unavailable", `${node}: ${text}`, { node, cause: error });
  return new TalosError(reason.code, `${node}: ${reason.says}`, { node, cause: error, hint: reason.hint });
}

/** The same, for text in which a library has buried the code, such as a gRPC status. */
export function fromNodeErrorText(text: string, node: string, cause: unknown): TalosError | undefined {
  const found =
    Object.keys(reasons).find((code) => text.includes(code)) ?? phrases.find(([phrase]) => text.includes(phrase))?.[1];
  const reason = found === undefined ? undefined : reasons[found];
  if (reason === undefined) return undefined;
  return new TalosError(reason.code, `${node}: ${reason.says}`, { node, cause, hint: reason.hint });
}

const phrases: readonly (readonly [string, string])[] = [
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
  ["alert decrypt error", "ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR"],
];

function reasonOf(error: unknown): Reason | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return reasons[String(error.code)];
}
