// SPDX-License-Identifier: Apache-2.0
import { request } from "node:https";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Machine } from "../../simulator/index.ts";
import type { Data } from "../../talos/api/gen/common/common.ts";
import { BootstrapRequest, ResetRequest, UpgradeRequest } from "../../talos/api/gen/machine/machine.ts";
import { keyForNode, publicKeyFingerprint } from "../../talos/pki/index.ts";
import { collect, configFor, Laboratory, metadataOf, unary, untar } from "./laboratory.ts";

let lab: Laboratory;
beforeAll(async () => {
  lab = await Laboratory.open("bring-up");
});
afterAll(() => lab.close());

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
  readonly users: readonly {
    readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string };
  }[];
}

function getKubernetes(config: Kubeconfig, address: string, path: string): Promise<{ code: number; body: string }> {
  const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");
  const user = config.users[0]?.user;
  return new Promise((resolve, reject) => {
    request(
      {
        host: address,
        port: 6443,
        path,
        ca: decoded(config.clusters[0]?.cluster["certificate-authority-data"]),
        cert: decoded(user?.["client-certificate-data"]),
        key: keyForNode(decoded(user?.["client-key-data"])),
        agent: false,
      },
      (response) => {
        collect<Buffer>(response).then(
          (chunks) => resolve({ code: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          reject,
        );
      },
    )
      .on("error", reject)
      .end();
  });
}

describe("a machine without config", () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await lab.machine("blank");
  });

  it("serves its API without client certificates, with the certificate whose fingerprint it was announced with", async () => {
    const reply = await unary((done) => lab.maintenanceApi(machine.address).version({}, done));
    expect(reply).toMatchObject({ messages: [{ version: { tag: "v1.13.9" }, features: { rbac: false } }] });
    expect(lab.simulator.getMachine(machine.id)?.fingerprint).toBe(
      publicKeyFingerprint(machine.maintenance.certificate),
    );
  });

  it("refuses what needs more than the reader role", async () => {
    const client = lab.maintenanceApi(machine.address);
    const refusal = { code: status.PERMISSION_DENIED, details: "not authorized" };
    await expect(unary((done) => client.bootstrap(BootstrapRequest.create(), done))).rejects.toMatchObject(refusal);
    await expect(unary((done) => client.reset(ResetRequest.create(), done))).rejects.toMatchObject(refusal);
    await expect(unary((done) => client.upgrade(UpgradeRequest.create(), done))).rejects.toMatchObject(refusal);
  });

  it("refuses a config that is not one, in the words of a real machine, and stays in maintenance mode", async () => {
    await expect(lab.apply(machine, "hello: world")).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    await expect(lab.apply(machine, "{")).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(lab.now(machine.id).life.stage).toBe("maintenance");
  });
});

describe("three control planes and two workers", () => {
  let machines: Machine[];
  let first: Machine;
  beforeAll(async () => {
    machines = await lab.cluster(3, 2);
    first = machines[0] as Machine;
  });

  it("form one etcd of three voters, the others having joined by themselves", async () => {
    const reply = await unary((done) => lab.machineApi(first.address).etcdMemberList({ queryLocal: false }, done));
    const members = (reply as { messages: { members: { hostname: string; isLearner: boolean }[] }[] }).messages[0]
      ?.members;
    expect(members?.map((member) => member.hostname).sort()).toEqual(["cp-1", "cp-2", "cp-3"]);
    expect(members?.some((member) => member.isLearner)).toBe(false);
  });

  it("refuse a second bootstrap", async () => {
    for (const machine of machines.slice(0, 3)) {
      const again = unary((done) =>
        lab.machineApi(machine.address).bootstrap({ recoverEtcd: false, recoverSkipHashCheck: false }, done),
      );
      await expect(again).rejects.toMatchObject({
        code: status.ALREADY_EXISTS,
        details: "etcd data directory is not empty",
      });
    }
  });

  it("refuse a bootstrap of a worker", async () => {
    const worker = machines[3] as Machine;
    const call = unary((done) =>
      lab.machineApi(worker.address).bootstrap({ recoverEtcd: false, recoverSkipHashCheck: false }, done),
    );
    await expect(call).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
      details: "bootstrap is only available on control plane nodes",
    });
  });

  it("hand out a kubeconfig that opens the Kubernetes API of every control plane", async () => {
    const [data] = await collect<Data>(lab.machineApi(first.address).kubeconfig({}));
    const { name, content } = untar(data?.bytes ?? new Uint8Array());
    expect(name).toBe("kubeconfig");
    const config = parse(content) as Kubeconfig;
    expect(config.clusters[0]?.cluster.server).toBe(`https://${first.address}:6443`);
    for (const { address } of machines.slice(0, 3)) {
      expect(await getKubernetes(config, address, "/readyz")).toEqual({ code: 200, body: "ok" });
    }
    const nodes = JSON.parse((await getKubernetes(config, first.address, "/api/v1/nodes")).body) as {
      items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
    };
    expect(nodes.items.map((node) => node.metadata.name)).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
    for (const node of nodes.items)
      expect(node.status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });

  it("answer for the nodes that a request names, each reply with its name, a dead one with an error", async () => {
    const gone = first.address.replace(/\d+$/, "150");
    const reply = await unary((done) =>
      lab.machineApi(first.address).version({}, metadataOf({ nodes: [machines[1]?.address ?? "", "w-1", gone] }), done),
    );
    const { messages } = reply as {
      messages: { metadata: { hostname: string; error: string }; version?: { tag: string } }[];
    };
    expect(messages.map(({ metadata }) => metadata.hostname)).toEqual([machines[1]?.address, "w-1", gone]);
    expect(messages.map(({ version }) => version?.tag)).toEqual(["v1.13.9", "v1.13.9", undefined]);
    expect(messages[2]?.metadata.error).toContain("code = Unavailable");
  });

  it("forward a call to one node and hand its error through", async () => {
    const call = unary((done) =>
      lab.machineApi(first.address).etcdMemberList({ queryLocal: false }, metadataOf({ node: ["w-1"] }), done),
    );
    await expect(call).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
      details: "member list is only available on control plane nodes",
    });
    const two = unary((done) => lab.machineApi(first.address).version({}, metadataOf({ node: ["w-1", "w-2"] }), done));
    await expect(two).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  });

  it("take a worker no further than itself", async () => {
    const worker = machines[3] as Machine;
    const call = unary((done) =>
      lab.machineApi(worker.address).version({}, metadataOf({ nodes: [first.address] }), done),
    );
    await expect(call).rejects.toMatchObject({ code: status.PERMISSION_DENIED, details: "no request forwarding" });
  });

  it("let a control plane leave by a graceful reset: its member goes, it comes back in maintenance mode", async () => {
    const leaving = machines[2] as Machine;
    const request = ResetRequest.fromPartial({ graceful: true, reboot: true });
    const reply = await unary((done) => lab.machineApi(leaving.address).reset(request, done));
    expect((reply as { messages: { actorId: string }[] }).messages[0]?.actorId).toMatch(/^[0-9a-f-]{36}$/);
    await lab.reach(leaving, "maintenance");
    const members = await unary((done) => lab.machineApi(first.address).etcdMemberList({ queryLocal: false }, done));
    expect((members as { messages: { members: unknown[] }[] }).messages[0]?.members).toHaveLength(2);
    const version = await unary((done) => lab.maintenanceApi(leaving.address).version({}, done));
    expect(version).toMatchObject({ messages: [{ features: { rbac: false } }] });
  });

  it("reboot with a new boot id and keep their place in etcd", async () => {
    const machine = machines[1] as Machine;
    const before = lab.now(machine.id);
    await unary((done) => lab.machineApi(machine.address).reboot({ mode: 0 }, done));
    await lab.reach(machine, "booting");
    await lab.ready(machine);
    const after = lab.now(machine.id);
    expect(after.bootId).not.toBe(before.bootId);
    expect(after.disk.etcd).toEqual(before.disk.etcd);
  });
});

describe("a worker", () => {
  it("does not open its API before a control plane with its token is up", async () => {
    const worker = await lab.machine("lonely");
    const other = configFor("worker", "127.0.0.9", "lonely").replace(
      /token: \w+\.\w+/,
      "token: aaaaaa.bbbbbbbbbbbbbbbb",
    );
    await lab.apply(worker, other);
    await lab.simulation.until((world) => world.machines[worker.id]?.services.kubelet?.health === "healthy");
    expect(lab.now(worker.id).services.apid).toMatchObject({ stage: "Waiting" });
    const call = unary((done) =>
      lab.machineApi(worker.address).version({}, metadataOf({}), { deadline: Date.now() + 500 }, done),
    );
    await expect(call).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });
});
