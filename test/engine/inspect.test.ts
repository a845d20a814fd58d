// SPDX-License-Identifier: Apache-2.0
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { type Machines, talosMachines } from "../../engine/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { createCertificateAuthority, issueCertificate, type KeyPair, keyForNode } from "../../talos/pki/index.ts";
import { testSecrets, wish } from "./fixture.ts";

const source = { clock: systemClock, entropy: systemEntropy };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A machine that refuses strangers, under a certificate of this CA. */
function machineOf(ca: KeyPair): TlsServer {
  const [notBefore, notAfter] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
  const terms = { notBefore, notAfter, usages: ["serverAuth"] as const };
  const pair = issueCertificate(ca, { subject: { commonName: "m" }, ipAddresses: ["127.0.0.1"], ...terms }, source);
  return createTlsServer({
    ...{ cert: pair.certificate, key: keyForNode(pair.key), ca: ca.certificate },
    ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["h2"], minVersion: "TLSv1.3" },
  }).on("tlsClientError", () => {});
}

/** Looks at an address at which the first connection gets one machine, and every later one another. */
async function inspect(first: TlsServer, later: TlsServer): ReturnType<Machines["inspect"]> {
  let connections = 0;
  const door = createServer((socket) => (connections++ === 0 ? first : later).emit("connection", socket));
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  const machines = talosMachines({ desired: wish(), secrets: testSecrets() });
  closing.push(() => door.close(), machines.close);
  const address = `127.0.0.1:${(door.address() as AddressInfo).port}`;
  return machines.inspect({ name: "cp-1", role: "controlplane", address });
}

describe("a machine with a certificate of another CA", () => {
  const stranger = () => createCertificateAuthority({ kind: "ed25519", ...source });

  test("is another cluster's when it goes on showing it", async () => {
    const machine = machineOf(stranger());
    expect(await inspect(machine, machine)).toMatchObject({ kind: "foreign" });
  });

  test("is asked again when it shows another one a moment later, as after its first config", async () => {
    const state = await inspect(machineOf(stranger()), machineOf(testSecrets().certs.os));
    expect(state).toMatchObject({ kind: "unreachable", reason: expect.stringContaining("another certificate") });
  });
});
