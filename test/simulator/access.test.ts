// SPDX-License-Identifier: Apache-2.0
import { connect as connectTls } from "node:tls";
import { Client, credentials, status } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parseFault } from "../../simulator/control/index.ts";
import type { Fault, Machine } from "../../simulator/index.ts";
import type { MachineServiceClient } from "../../talos/api/gen/machine/machine.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import type { Role } from "../../talos/config/index.ts";
import { createCertificateAuthority, issueCertificate, keyForNode } from "../../talos/pki/index.ts";
import { clientPair, Laboratory, metadataOf, mutual, secrets, unary } from "./laboratory.ts";

let lab: Laboratory;
let machines: Machine[];
let first: Machine;
beforeAll(async () => {
  lab = await Laboratory.open("access");
  machines = await lab.cluster(1, 1);
  first = machines[0] as Machine;
});
afterEach(async () => {
  for (const { id } of machines) lab.simulator.setFaults(id, []);
  await lab.settled();
});
afterAll(() => lab.close());

const version = (client: MachineServiceClient, milliseconds = 2_000): Promise<unknown> =>
  unary((done) => client.version({}, metadataOf({}), { deadline: Date.now() + milliseconds }, done));

describe("roles", () => {
  const cases: readonly [Role, "yes" | "no", "yes" | "no", "yes" | "no", "yes" | "no"][] = [
    ["os:admin", "yes", "yes", "yes", "yes"],
    ["os:operator", "yes", "yes", "yes", "no"],
    ["os:reader", "yes", "yes", "no", "no"],
    ["os:etcd:backup", "no", "yes", "no", "no"],
    ["os:meta:writer", "no", "no", "no", "yes"],
  ];

  it.each(cases)("of %s: version %s, members %s, service %s, meta %s", async (role, read, members, operate, meta) => {
    const client = lab.machineApi(first.address, mutual(clientPair([role])));
    const outcome = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => "yes",
        (error: { code: number; details: string }) =>
          error.code === status.PERMISSION_DENIED && error.details === "not authorized" ? "no" : error.details,
      );
    const results = await Promise.all([
      outcome(version(client)),
      outcome(unary((done) => client.etcdMemberList({ queryLocal: false }, done))),
      outcome(unary((done) => client.serviceStart({ id: "kubelet" }, done))),
      outcome(unary((done) => client.metaWrite({ key: 12, value: Buffer.from("x") }, done))),
    ]);
    expect(results).toEqual([read, members, operate, meta]);
  });

  it("count on the machine that serves, also behind another one", async () => {
    const client = lab.machineApi(first.address, mutual(clientPair(["os:reader"])));
    const reply = await unary((done) => client.reboot({ mode: 0 }, metadataOf({ nodes: ["w-1"] }), done));
    expect(reply).toMatchObject({
      messages: [{ metadata: { hostname: "w-1", error: "rpc error: code = PermissionDenied desc = not authorized" } }],
    });
  });
});

describe("certificates", () => {
  it("are demanded", async () => {
    const client = lab.machineApi(first.address, credentials.createSsl(Buffer.from(secrets.certs.os.certificate)));
    await expect(version(client)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });

  it("of a stranger are refused", async () => {
    const stranger = createCertificateAuthority({ kind: "ed25519", clock: systemClock, entropy: systemEntropy });
    const terms = {
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 60_000),
      usages: ["clientAuth"],
    } as const;
    const pair = issueCertificate(
      stranger,
      { subject: { organizations: ["os:admin"] }, ...terms },
      { entropy: systemEntropy },
    );
    await expect(version(lab.machineApi(first.address, mutual(pair)))).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });

  it("that may do more than authenticate a client are refused", async () => {
    const terms = {
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 60_000),
      usages: ["clientAuth", "serverAuth"],
    } as const;
    const pair = issueCertificate(
      secrets.certs.os,
      { subject: { organizations: ["os:admin"] }, ...terms },
      { entropy: systemEntropy },
    );
    await expect(version(lab.machineApi(first.address, mutual(pair)))).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      details: 'certificate "O=os:admin" is missing the client auth extended key usage',
    });
  });

  it("are served over TLS 1.3 and HTTP/2 only", async () => {
    const attempt = new Promise<string>((resolve) => {
      const pair = clientPair();
      const socket = connectTls(
        {
          host: first.address,
          port: 50_000,
          ca: secrets.certs.os.certificate,
          cert: pair.certificate,
          key: keyForNode(pair.key),
          maxVersion: "TLSv1.2",
        },
        () => resolve("connected"),
      );
      socket.on("error", (error) => resolve(error.message));
    });
    expect(await attempt).toMatch(/protocol version/);
  });
});

describe("faults on the wire", () => {
  async function underFault(...faults: Fault[]): Promise<MachineServiceClient> {
    lab.simulator.setFaults(first.id, faults);
    await lab.settled();
    return lab.machineApi(first.address);
  }

  it.each<[written: string, code: number]>([
    ["refuse", status.UNAVAILABLE],
    ["reset", status.UNAVAILABLE],
    ["half-open", status.DEADLINE_EXCEEDED],
    ['{"kind":"delay","milliseconds":5000}', status.DEADLINE_EXCEEDED],
    ['{"kind":"trickle","milliseconds":500}', status.DEADLINE_EXCEEDED],
    ["wrong-certificate", status.UNAVAILABLE],
    ["expired-certificate", status.UNAVAILABLE],
    ['{"kind":"clock-skew","milliseconds":604800000}', status.UNAVAILABLE],
  ])("%s fails a call as it would in life", async (written, code) => {
    const client = await underFault(parseFault(written));
    await expect(version(client, 1_000)).rejects.toMatchObject({ code });
    lab.simulator.setFaults(first.id, []);
    await lab.settled();
    await version(lab.machineApi(first.address));
  });

  it("fail one method, with a code and words, as often as asked", async () => {
    const client = await underFault({
      kind: "fail",
      method: "Version",
      code: "ResourceExhausted",
      message: "slow down",
      times: 2,
    });
    for (let time = 0; time < 2; time += 1) {
      await expect(version(client)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: "slow down" });
    }
    await version(client);
  });

  it("end by themselves when their time is over", async () => {
    await underFault({ kind: "refuse", until: Date.now() + 300 });
    await expect(version(lab.machineApi(first.address), 200)).rejects.toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 400));
    await lab.settled();
    await version(lab.machineApi(first.address));
  });
});

describe("the ports beside the APIs", () => {
  /** What a stranger's TLS connection to a port comes to. */
  function knock(port: number): Promise<string> {
    return new Promise((resolve) => {
      const socket = connectTls({ host: first.address, port, rejectUnauthorized: false });
      socket.on("secureConnect", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
      socket.on("data", (data: Buffer) => {
        resolve(data.toString("latin1").split("\r\n", 1)[0] ?? "");
        socket.destroy();
      });
      socket.on("error", (error) => resolve(error.message));
      socket.on("close", () => resolve("closed"));
    });
  }

  it.each<[what: string, port: number, answer: RegExp]>([
    ["the kubelet knows nobody", 10_250, /^HTTP\/1\.1 401/],
    ["etcd wants a certificate from clients", 2_379, /certificate required/],
    ["etcd wants one from its peers", 2_380, /certificate required/],
  ])("%s", async (_, port, answer) => {
    expect(await knock(port)).toMatch(answer);
  });

  it("trustd signs for nobody without the token, and says why not with it", async () => {
    const client = new Client(
      `${first.address}:50001`,
      credentials.createSsl(Buffer.from(secrets.certs.os.certificate)),
    );
    const ask = (token?: string): Promise<unknown> =>
      unary((done) =>
        client.makeUnaryRequest(
          "/securityapi.SecurityService/Certificate",
          (bytes: Buffer) => bytes,
          (bytes) => bytes,
          Buffer.alloc(0),
          metadataOf(token === undefined ? {} : { token: [token] }),
          (error, reply) => done(error, reply ?? Buffer.alloc(0)),
        ),
      );
    await expect(ask()).rejects.toMatchObject({ code: status.UNAUTHENTICATED, details: "missing token" });
    await expect(ask("x")).rejects.toMatchObject({ code: status.UNAUTHENTICATED, details: "invalid token" });
    await expect(ask(secrets.trustdInfo.token)).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    client.close();
  });
});
