// SPDX-License-Identifier: Apache-2.0
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

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

export interface ServerCertificate {
  /** What go-plugin wants in the handshake: the certificate's DER. */
  readonly der: Buffer;
  readonly certificate: string;
  readonly key: string;
}

/**
 * A self-signed certificate for the few seconds of one run, as go-plugin makes them: for `localhost`, its own
 * authority. DER by hand: an X.509 package would double the start of a process that Terraform starts four times a plan.
 */
export function createServerCertificate(now: Date): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from("localhost")))));
  const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
  const day = 86_400_000;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now.getTime() - day)), time(new Date(now.getTime() + 365 * day))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        criticalExtension("551d13", sequence(der(0x01, Buffer.from([0xff])))),
        // digitalSignature, keyEncipherment, keyAgreement, keyCertSign
        criticalExtension("551d0f", der(0x03, Buffer.from([2, 0b1010_1100]))),
        extension("551d25", sequence(oid("2b06010505070301"), oid("2b06010505070302"))),
        extension("551d11", sequence(der(0x82, Buffer.from("localhost")))),
      ),
    ),
  );
  const signature = sign("sha256", body, privateKey);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    der: whole,
    certificate: `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const head = size < 0x80 ? [tag, size] : size < 0x100 ? [tag, 0x81, size] : [tag, 0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value));
const criticalExtension = (id: string, value: Buffer): Buffer =>
  sequence(oid(id), der(0x01, Buffer.from([0xff])), der(0x04, value));
const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`));
