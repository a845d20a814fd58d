// SPDX-License-Identifier: Apache-2.0
const cookieName = "TF_PLUGIN_MAGIC_COOKIE";
const cookie = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/** What Terraform says to a provider before the first byte: through the environment. */
export interface Invitation {
  /** DER of the one certificate that may talk to us. Undefined: Terraform was told to use no TLS. */
  readonly clientCertificate: Buffer | undefined;
  readonly socketDirectory: string | undefined;
}

/** Throws a sentence for the person who started us by hand, or with a Terraform that is too old. */
export function readInvitation(environment: NodeJS.ProcessEnv): Invitation {
  if (environment[cookieName] !== cookie)
    throw new Error("This is a Terraform provider. Terraform or OpenTofu starts it; it is of no use by itself.");
  const versions = (environment.PLUGIN_PROTOCOL_VERSIONS ?? "").split(",");
  if (!versions.includes("6"))
    throw new Error("This provider needs Terraform 1.1 or OpenTofu 1.6 or later (plugin protocol 6).");
  const certificate = environment.PLUGIN_CLIENT_CERT;
  return {
    clientCertificate: certificate ? derOf(certificate) : undefined,
    socketDirectory: environment.PLUGIN_UNIX_SOCKET_DIR || undefined,
  };
}

/** The certificate's bytes. It is only compared, so it need not be parsed, which would take a part of our start. */
function derOf(pem: string): Buffer {
  const body = /-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
  if (body === undefined) throw new Error("PLUGIN_CLIENT_CERT is no certificate.");
  return Buffer.from(body, "base64");
}

/** The one line on stdout that answers the invitation. */
export function handshakeLine(socket: string, serverCertificate: Buffer | undefined): string {
  const certificate = serverCertificate?.toString("base64").replace(/=+$/, "");
  const parts = ["1", "6", "unix", socket, "grpc", certificate];
  return `${parts.filter((part) => part !== undefined).join("|")}\n`;
}
