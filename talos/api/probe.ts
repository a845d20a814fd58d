// SPDX-License-Identifier: Apache-2.0
import { isIP } from "node:net";
import { checkServerIdentity, connect } from "node:tls";
import { TalosError } from "../errors.ts";
import { encodePem, publicKeyFingerprint } from "../pki/index.ts";
import { oneLine } from "../plain-text.ts";
import { type Address, parseAddress } from "./address.ts";
import { fromNodeError } from "./node-error.ts";

export interface Probe {
  /** The certificate that the machine showed, PEM. Nothing about it has been checked. */
  readonly certificate: string;
  readonly fingerprint: string;
  /** True when it is signed by the given CA, whatever else may be wrong with it. */
  readonly signedByCa: boolean;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** Addresses and names that it is for. */
  readonly names: readonly string[];
  /** Whether the host that was asked for is one of them. */
  readonly namesHost: boolean;
}

export interface ProbeOptions {
  /** PEM. */
  readonly ca?: string;
  /** Milliseconds. @default 5000 */
  readonly deadline?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Told only of a certificate whose signature is good. */
const clockFaults: ReadonlySet<string> = new Set(["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"]);

/** Looks at the certificate behind an address without sending anything else. Throws when nothing answers. */
export function probe(address: string, options: ProbeOptions = {}): Promise<Probe> {
  const { host, port }: Address = parseAddress(address);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      servername: isIP(host) === 0 ? host : undefined,
      ca: options.ca,
      ALPNProtocols: ["h2"],
      minVersion: "TLSv1.3",
      // Looking is the purpose; whoever uses the answer decides what it is worth.
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    const timer = setTimeout(() => {
      fail(new TalosError("deadline-exceeded", `${address}: no answer in time`, { node: address }));
    }, options.deadline ?? 5000);
    const cancel = () => fail(new TalosError("canceled", `${address}: canceled`, { node: address }));
    const finish = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", cancel);
      socket.destroy();
    };
    const fail = (error: unknown) => {
      finish();
      reject(fromNodeError(error, address));
    };
    socket.once("error", fail);
    socket.once("close", () =>
      fail(new TalosError("unavailable", `${address}: the connection was cut`, { node: address })),
    );
    socket.once("secureConnect", () => {
      const peer = socket.getPeerCertificate(false);
      const certificate = encodePem("CERTIFICATE", peer.raw);
      const fault = String(socket.authorizationError ?? "");
      finish();
      resolve({
        certificate,
        fingerprint: publicKeyFingerprint(certificate),
        signedByCa: options.ca !== undefined && (socket.authorized || clockFaults.has(fault)),
        validFrom: new Date(peer.valid_from),
        validTo: new Date(peer.valid_to),
        names: oneLine(peer.subjectaltname ?? "")
          .split(", ")
          .map((name) => name.replace(/^(?:DNS|IP Address):/, "")),
        namesHost: checkServerIdentity(host, peer) === undefined,
      });
    });
    if (options.signal?.aborted) cancel();
    else options.signal?.addEventListener("abort", cancel, { once: true });
  });
}
