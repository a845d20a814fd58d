// SPDX-License-Identifier: Apache-2.0
import { createServer, type Socket, type Server as TcpServer } from "node:net";
import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { StateService } from "../../../talos/api/gen/cosi/resource.ts";
import { MachineServiceService } from "../../../talos/api/gen/machine/machine.ts";
import type { Credentials } from "../../../talos/api/index.ts";
import { systemEntropy } from "../../../talos/clock.ts";
import { createCertificateAuthority, issueCertificate, type KeyPair, keyForNode } from "../../../talos/pki/index.ts";

const day = 86_400_000;
const clock = { now: () => new Date(Date.now() - day) };

export function testAuthority(): KeyPair {
  return createCertificateAuthority({ organization: "talos", kind: "ed25519", clock, entropy: systemEntropy });
}

export function leaf(ca: KeyPair, options: { server?: string; from?: number; until?: number } = {}): KeyPair {
  return issueCertificate(
    ca,
    {
      subject: { organizations: ["os:admin"] },
      notBefore: new Date(Date.now() + (options.from ?? -day)),
      notAfter: new Date(Date.now() + (options.until ?? day)),
      usages: options.server === undefined ? ["clientAuth"] : ["serverAuth"],
      ...(options.server === undefined ? {} : { ipAddresses: [options.server] }),
    },
    { entropy: systemEntropy },
  );
}

export function adminCredentials(ca: KeyPair): Credentials {
  return { ca: ca.certificate, ...leaf(ca) };
}

export interface Running {
  readonly address: string;
  stop(): Promise<void>;
}

/** A machine's API with the given handlers; the rest is unimplemented. Without a client CA it is in maintenance mode. */
export async function startServer(
  own: KeyPair,
  clientCa: KeyPair | undefined,
  handlers: { machine?: object; state?: object },
): Promise<Running> {
  const server = new Server();
  server.addService(MachineServiceService, (handlers.machine ?? {}) as UntypedServiceImplementation);
  server.addService(StateService, (handlers.state ?? {}) as UntypedServiceImplementation);
  const pair = { private_key: Buffer.from(keyForNode(own.key)), cert_chain: Buffer.from(own.certificate) };
  const credentials = ServerCredentials.createSsl(
    clientCa === undefined ? null : Buffer.from(clientCa.certificate),
    [pair],
    clientCa !== undefined,
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return {
    address: `127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.forceShutdown();
        resolve();
      }),
  };
}

/** Passes bytes on to another port until told to hold its tongue, as a machine does that lost power. */
export async function startProxy(
  target: string,
): Promise<Running & { silence(): void; recover(): void; connections(): number }> {
  const { connect } = await import("node:net");
  const sockets = new Set<Socket>();
  let silent = false;
  let count = 0;
  const proxy: TcpServer = createServer({ allowHalfOpen: true }, (client) => {
    count++;
    sockets.add(client);
    client.on("error", () => {});
    const upstream = connect(Number(target.split(":")[1]), "127.0.0.1");
    sockets.add(upstream);
    upstream.on("error", () => {});
    const muted = new WeakSet<Socket>();
    const pass = (from: Socket, to: Socket) =>
      from.on("data", (chunk) => {
        if (silent) muted.add(client);
        if (!muted.has(client)) to.write(chunk);
      });
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const bound = proxy.address();
  return {
    address: `127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`,
    silence: () => {
      silent = true;
    },
    recover: () => {
      silent = false;
    },
    connections: () => count,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        proxy.close(() => resolve());
      }),
  };
}
