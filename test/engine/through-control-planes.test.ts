// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { talosMachines } from "../../engine/index.ts";
import { MachineStatusSpec } from "../../talos/api/gen/resource/definitions/runtime.ts";
import { leaf, startProxy, startServer } from "../talos/api/talos-server.ts";
import { testSecrets, wish } from "./fixture.ts";

type Call = { readonly metadata: { get(name: string): unknown[] }; readonly request: { readonly type?: string } };
type Callback = (error: unknown, reply?: unknown) => void;
type Refusal = { readonly code: number; readonly details: string };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const metadata = { namespace: "runtime", type: "t", id: "machine", version: "1", owner: "", phase: "running" };
const running = MachineStatusSpec.encode({ stage: 5, status: { ready: true, unmetConditions: [] } }).finish();
const version = { tag: "v1.13.9", sha: "", built: "", goVersion: "", os: "linux", arch: "amd64" };

/**
 * A control plane that answers for the workers behind it, or refuses to, and notes down for whom it was asked. Nobody
 * listens at the addresses of the workers.
 */
async function clusterOf(
  workers: readonly string[],
  refusals: Readonly<Record<string, Refusal>> = {},
  { fansOut = true } = {},
) {
  const ca = testSecrets().certs.os;
  const asked: string[] = [];
  const versions: string[][] = [];
  const answering = (reply: (call: Call) => unknown) => (call: Call, callback: Callback) => {
    const [node = ""] = call.metadata.get("node") as string[];
    asked.push(node);
    const refusal = refusals[node];
    if (refusal === undefined) callback(null, reply(call));
    else callback(refusal);
  };
  const server = await startServer(leaf(ca, { server: "127.0.0.1" }), ca, {
    machine: {
      version: (call: Call, callback: Callback) => {
        // Node's servers get the values of one header in one piece.
        const nodes = ((fansOut ? call.metadata.get("nodes") : []) as string[]).flatMap((all) => all.split(", "));
        versions.push(nodes);
        const platform = { name: "metal", mode: "metal" };
        if (nodes.length === 0) return answering(() => ({ messages: [{ version, platform }] }))(call, callback);
        const messages = nodes.map((hostname) => ({
          metadata: { hostname, error: hostname in refusals ? "no" : "" },
          version,
          platform,
        }));
        callback(null, { messages });
      },
    },
    state: {
      get: answering(({ request }) => ({
        resource: {
          metadata: { ...metadata, finalizers: [], labels: {}, annotations: {} },
          spec: request.type?.startsWith("MachineStatuses")
            ? { protoSpec: running, yamlSpec: "" }
            : { protoSpec: new Uint8Array(0), yamlSpec: "machine: {}" },
        },
      })),
    },
  });
  const door = await startProxy(server.address);
  const unasked = { installImage: "" };
  const plane = { ...unasked, name: "cp-1", role: "controlplane", address: door.address } as const;
  const others = workers.map((address) => ({ ...unasked, name: address, role: "worker", address }) as const);
  const machines = talosMachines({
    desired: { ...wish(), machines: [plane, ...others] },
    secrets: testSecrets(),
    onlyLook: true,
  });
  closing.push(machines.close, door.stop, server.stop);
  const lookAt = async () => {
    const kinds: string[] = [];
    for (const worker of others) kinds.push((await machines.inspect(worker)).kind);
    return kinds;
  };
  return { lookAt, asked: () => [...new Set(asked)], versions, connections: door.connections };
}

describe("who only looks at workers", () => {
  test("sees them through a control plane, all over one connection", async () => {
    const { lookAt, asked, connections } = await clusterOf(["127.0.0.8", "127.0.0.9"]);
    expect(await lookAt()).toEqual(["configured", "configured"]);
    expect(asked()).toEqual(["127.0.0.8", "127.0.0.9"]);
    expect(connections()).toBe(1);
  });

  test("asks many workers in one call what they run", async () => {
    const workers = Array.from({ length: 40 }, (_, index) => `127.0.1.${index + 1}`);
    const { lookAt, versions } = await clusterOf(workers);
    expect(new Set(await lookAt())).toEqual(new Set(["configured"]));
    expect(versions).toEqual([workers.slice(0, 32), workers.slice(32)]);
  });

  test("asks each worker alone what it runs where the control plane does not ask several", async () => {
    const workers = ["127.0.0.8", "127.0.0.9"];
    const { lookAt, versions } = await clusterOf(workers, {}, { fansOut: false });
    expect(await lookAt()).toEqual(["configured", "configured"]);
    expect(versions).toEqual([[], [], []]);
  });

  test("asks a worker itself that the control plane has no trust in, and the next one through it again", async () => {
    const details = 'x509: certificate signed by unknown authority (possibly because of "x509: Ed25519 failure")';
    const { lookAt, asked } = await clusterOf(["127.0.0.8", "127.0.0.9"], {
      "127.0.0.8": { code: status.INTERNAL, details },
    });
    expect(await lookAt()).toEqual(["unreachable", "configured"]);
    expect(asked()).toEqual(["127.0.0.8", "127.0.0.9"]);
  });

  test("asks all workers themselves once the control plane could not reach one of them", async () => {
    const { lookAt, asked } = await clusterOf(["127.0.0.8", "127.0.0.9"], {
      "127.0.0.8": { code: status.UNAVAILABLE, details: "dial tcp 127.0.0.8:50000: i/o timeout" },
    });
    expect(await lookAt()).toEqual(["unreachable", "unreachable"]);
    expect(asked()).toEqual(["127.0.0.8"]);
  });

  test("asks a worker itself whose API is behind another port, which no control plane knows of", async () => {
    const { lookAt, asked } = await clusterOf(["127.0.0.9:1"]);
    expect(await lookAt()).toEqual(["unreachable"]);
    expect(asked()).toEqual([]);
  });
});
