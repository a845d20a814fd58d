// SPDX-License-Identifier: Apache-2.0
import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { MachineStatusSpec } from "../../../talos/api/gen/resource/definitions/runtime.ts";
import { type Authentication, connect, connectThrough, probe, type TalosClient } from "../../../talos/api/index.ts";
import { publicKeyFingerprint } from "../../../talos/pki/index.ts";
import { adminCredentials, leaf, type Running, startProxy, startServer, testAuthority } from "./talos-server.ts";

const ca = testAuthority();
const certificate = leaf(ca, { server: "127.0.0.1" });
const mtls = { kind: "mtls", credentials: adminCredentials(ca) } as const;

const open: { close?(): void; stop?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) {
    thing.close?.();
    await thing.stop?.();
  }
});

async function machine(handlers: Parameters<typeof startServer>[2]): Promise<Running> {
  const running = await startServer(certificate, ca, handlers);
  open.push(running);
  return running;
}

function client(address: string, authentication: Authentication = mtls): TalosClient {
  const opened = connect(address, authentication);
  open.push(opened);
  return opened;
}

type Callback = (error: unknown, reply?: unknown) => void;
const version = (_call: unknown, callback: Callback) =>
  callback(null, {
    messages: [
      { metadata: undefined, version: versionInfo, platform: { name: "metal", mode: "metal" }, features: undefined },
    ],
  });
const versionInfo = { tag: "v1.13.9", sha: "", built: "", goVersion: "", os: "linux", arch: "amd64" };

describe("a client through endpoints", () => {
  test("has calls passed on to the machine, and takes the next endpoint after one that does not answer", async () => {
    const seen: unknown[] = [];
    const { address } = await machine({
      machine: {
        version: (call: { metadata: { get(name: string): unknown[] } }, callback: Callback) => {
          seen.push(...call.metadata.get("node"));
          version(call, callback);
        },
      },
    });
    const through = connectThrough(["127.0.0.1:1", address], "10.0.0.80", mtls);
    open.push(through);
    await expect(through.version({ deadline: 5000 })).rejects.toThrow("10.0.0.80 (through 127.0.0.1:1)");
    expect(seen).toEqual([]);
    expect(await through.version()).toMatchObject({ tag: "v1.13.9" });
    expect(seen).toEqual(["10.0.0.80"]);
  });
});

describe("a client with certificates", () => {
  test("reads the version and says that it is a Talos client", async () => {
    const seen: unknown[] = [];
    const { address } = await machine({
      machine: {
        version: (call: { metadata: { get(name: string): unknown[] } }, callback: Callback) => {
          seen.push(...call.metadata.get("runtime"));
          version(call, callback);
        },
      },
    });
    expect(await client(address).version()).toEqual({ tag: "v1.13.9", architecture: "amd64", platform: "metal" });
    expect(seen).toEqual(["Talos"]);
  });

  test.each([
    ["signed by another CA", () => leaf(testAuthority(), { server: "127.0.0.1" }), /not signed by our CA/],
    ["for another address", () => leaf(ca, { server: "127.0.0.9" }), /for other addresses/],
    ["expired", () => leaf(ca, { server: "127.0.0.1", until: -1000 }), /expired/],
    ["from the future", () => leaf(ca, { server: "127.0.0.1", from: 3_600_000 }), /not valid yet/],
  ])("refuses a machine whose certificate is %s", async (_name, own, message) => {
    const running = await startServer(own(), ca, { machine: { version } });
    open.push(running);
    await expect(client(running.address).version()).rejects.toMatchObject({
      name: "TalosError",
      message: expect.stringMatching(message),
    });
  });

  test("is refused by a machine that does not know its CA", async () => {
    const { address } = await machine({ machine: { version } });
    const stranger = { ...adminCredentials(testAuthority()), ca: ca.certificate };
    const refused = client(address, { kind: "mtls", credentials: stranger }).version();
    await expect(refused).rejects.toMatchObject({
      name: "TalosError",
      code: expect.stringMatching(/permission-denied|unavailable/),
    });
  });

  test.each([
    [status.ALREADY_EXISTS, "already-exists"],
    [status.FAILED_PRECONDITION, "failed-precondition"],
    [status.INVALID_ARGUMENT, "invalid-input"],
    [status.PERMISSION_DENIED, "permission-denied"],
    [status.UNIMPLEMENTED, "unimplemented"],
    [status.UNAVAILABLE, "unavailable"],
    [status.INTERNAL, "internal"],
  ])("turns gRPC status %i into %s, naming the machine", async (code, expected) => {
    const { address } = await machine({
      machine: {
        bootstrap: (_call: unknown, callback: Callback) =>
          callback({ code, details: "etcd data directory is not empty" }),
      },
    });
    await expect(client(address).bootstrap()).rejects.toMatchObject({
      code: expected,
      node: address,
      message: `${address}: etcd data directory is not empty`,
    });
  });

  test("turns an error inside a reply into an exception, and in a fan-out into that machine's own result", async () => {
    const messages = [
      {
        metadata: { hostname: "10.0.0.2", error: "", status: undefined },
        version: versionInfo,
        platform: undefined,
        features: undefined,
      },
      {
        metadata: {
          hostname: "10.0.0.3",
          error: "rpc error",
          status: { code: 14, message: "connection refused", details: [] },
        },
        version: undefined,
        platform: undefined,
        features: undefined,
      },
    ];
    const nodes: unknown[] = [];
    const { address } = await machine({
      machine: {
        version: (call: { metadata: { get(name: string): unknown[] } }, callback: Callback) => {
          nodes.push(...call.metadata.get("nodes"));
          callback(null, { messages: nodes.length === 0 ? messages.slice(1) : messages });
        },
      },
    });
    await expect(client(address).version()).rejects.toMatchObject({ code: "unavailable", node: "10.0.0.3" });
    const replies = await client(address).versions(["10.0.0.2", "10.0.0.3"]);
    expect(replies).toMatchObject([
      { node: "10.0.0.2", value: { tag: "v1.13.9" } },
      { node: "10.0.0.3", error: { code: "unavailable" } },
    ]);
    expect(nodes.join().split(/,\s*/)).toEqual(["10.0.0.2", "10.0.0.3"]);
  });

  test("gives up a call at its deadline, and at once when told to", async () => {
    const { address } = await machine({ machine: { version: () => {} } });
    await expect(client(address).version({ deadline: 100 })).rejects.toMatchObject({ code: "deadline-exceeded" });
    const stop = new AbortController();
    const call = client(address).version({ signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: "canceled" });
  });

  test("takes a call that the machine cancels, as it does when it shuts down, for one to make again", async () => {
    const cancelled = (_call: unknown, callback: Callback) =>
      callback({ code: status.CANCELLED, details: "context canceled" });
    const { address } = await machine({ machine: { version: cancelled } });
    await expect(client(address).version()).rejects.toMatchObject({ code: "unavailable", retryable: true });
  });

  test("says that nothing listens", async () => {
    await expect(client("127.0.0.1:1").version()).rejects.toMatchObject({
      code: "unavailable",
      message: "127.0.0.1:1: the connection was refused",
    });
  });

  test("takes a new connection after the old one went silent without a word", async () => {
    const { address } = await machine({ machine: { version } });
    const proxy = await startProxy(address);
    open.push(proxy);
    const talos = client(proxy.address);
    await talos.version();
    proxy.silence();
    await expect(talos.version({ deadline: 200 })).rejects.toMatchObject({ code: "deadline-exceeded" });
    proxy.recover();
    expect((await talos.version({ deadline: 2000 })).tag).toBe("v1.13.9");
    expect(proxy.connections()).toBe(2);
  });

  test("ends a stream whose machine fell silent, and keeps one that is merely quiet", async () => {
    const { address } = await machine({
      machine: {
        version,
        logs: (call: { write(chunk: unknown): void }) =>
          call.write({ metadata: undefined, bytes: Buffer.from("line\n") }),
      },
    });
    const proxy = await startProxy(address);
    open.push(proxy);
    const talos = connect(proxy.address, mtls, { heartbeat: 1_500 });
    open.push(talos);
    const stream = talos.logs("etcd", { follow: true })[Symbol.asyncIterator]();
    await stream.next();
    const next = stream.next();
    const quiet = new Promise((resolve) => setTimeout(() => resolve("quiet"), 3_500));
    expect(await Promise.race([next, quiet])).toBe("quiet");
    proxy.silence();
    await expect(next).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("has fallen silent"),
    });
  });

  describe("a quiet stream whose connection was given up", () => {
    const quietLogs = async () => {
      let say = (_line: string) => {};
      const { address } = await machine({
        machine: {
          version,
          memory: () => {},
          logs: (call: { write(chunk: unknown): void }) => {
            say = (line) => call.write({ metadata: undefined, bytes: Buffer.from(line) });
            say("first");
          },
        },
      });
      const talos = connect(address, mtls, { heartbeat: 500 });
      open.push(talos);
      const stream = talos.logs("etcd", { follow: true })[Symbol.asyncIterator]();
      await stream.next();
      return { talos, stream, say: (line: string) => say(line) };
    };
    const beats = () => new Promise((resolve) => setTimeout(resolve, 1_500));

    test("goes on after another call was lost, and is still watched over", async () => {
      const { talos, stream, say } = await quietLogs();
      const next = stream.next();
      await expect(talos.memoryTotal({ deadline: 50 })).rejects.toMatchObject({ code: "deadline-exceeded" });
      await beats();
      say("second");
      expect(Buffer.from((await next).value ?? []).toString()).toBe("second");
      await stream.return?.();
    });

    test("ends when the client is closed", async () => {
      const { talos, stream } = await quietLogs();
      const next = stream.next();
      talos.close();
      await expect(next).rejects.toMatchObject({ code: "unavailable" });
    });
  });

  test("reads a kubeconfig from an archive that lacks its end", async () => {
    const text = "apiVersion: v1\nkind: Config\n";
    const header = Buffer.alloc(512);
    header.write("kubeconfig", 0);
    header.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
    const archive = gzipSync(Buffer.concat([header, Buffer.from(text)]));
    const { address } = await machine({
      machine: {
        kubeconfig: (call: { write(chunk: unknown): void; end(): void }) => {
          call.write({ metadata: undefined, bytes: archive.subarray(0, 20) });
          call.write({ metadata: undefined, bytes: archive.subarray(20) });
          call.end();
        },
      },
    });
    expect(await client(address).kubeconfig()).toBe(text);
  });

  test("reads the stage from the machine's resources, and a missing resource is no error", async () => {
    const spec = MachineStatusSpec.encode({
      stage: 1,
      status: { ready: false, unmetConditions: [{ name: "time", reason: "time is not in sync" }] },
    }).finish();
    const metadata = {
      namespace: "runtime",
      type: "t",
      id: "machine",
      version: "1",
      owner: "",
      phase: "running",
      created: undefined,
      updated: undefined,
      finalizers: [],
      labels: {},
      annotations: {},
    };
    const { address } = await machine({
      state: {
        get: (call: { request: { type: string } }, callback: Callback) =>
          call.request.type.startsWith("MachineStatuses")
            ? callback(null, { resource: { metadata, spec: { protoSpec: spec, yamlSpec: "" } } })
            : callback({ code: status.NOT_FOUND, details: "resource doesn't exist" }),
      },
    });
    expect(await client(address).machineStatus()).toEqual({
      stage: "booting",
      ready: false,
      unmet: [{ name: "time", reason: "time is not in sync" }],
      bootMark: "0.000000000",
    });
    expect(await client(address).machineConfig()).toBeUndefined();
  });

  test("ends a stream when the reader has enough", async () => {
    let canceled = false;
    const { address } = await machine({
      machine: {
        logs: (call: { write(chunk: unknown): void; on(event: string, listener: () => void): void }) => {
          call.on("cancelled", () => {
            canceled = true;
          });
          const timer = setInterval(() => call.write({ metadata: undefined, bytes: Buffer.from("line\n") }), 5);
          call.on("cancelled", () => clearInterval(timer));
        },
      },
    });
    for await (const chunk of client(address).logs("etcd", { follow: true })) {
      expect(Buffer.from(chunk).toString()).toBe("line\n");
      break;
    }
    await expect.poll(() => canceled).toBe(true);
  });

  test("uploads a snapshot in chunks", async () => {
    const received: Buffer[] = [];
    const { address } = await machine({
      machine: {
        etcdRecover: (call: AsyncIterable<{ bytes: Uint8Array }>, callback: Callback) => {
          void (async () => {
            for await (const { bytes } of call) received.push(Buffer.from(bytes));
            callback(null, { messages: [{ metadata: undefined }] });
          })();
        },
      },
    });
    const snapshot = async function* () {
      for (let index = 0; index < 50; index++) yield Buffer.alloc(4096, index);
    };
    await client(address).etcdRecover(snapshot());
    expect(Buffer.concat(received).length).toBe(50 * 4096);
  });

  test("lets go of a snapshot that the machine refuses while more of it waits to be sent", async () => {
    const { address } = await machine({
      machine: {
        etcdRecover: (_call: unknown, callback: Callback) =>
          callback({ code: status.FAILED_PRECONDITION, details: "etcd is running" }),
      },
    });
    let closed = false;
    const snapshot = async function* () {
      try {
        for (;;) yield Buffer.alloc(1024 * 1024);
      } finally {
        closed = true;
      }
    };
    await expect(client(address).etcdRecover(snapshot())).rejects.toThrow("etcd is running");
    await expect.poll(() => closed).toBe(true);
  });
});

describe("a client in maintenance mode", () => {
  const throwAway = leaf(testAuthority(), { server: "127.0.0.9" });
  const fingerprint = publicKeyFingerprint(throwAway.certificate);
  const start = async () => {
    const running = await startServer(throwAway, undefined, { machine: { version } });
    open.push(running);
    return running.address;
  };

  test("trusts the certificate with the right fingerprint, whatever is in it", async () => {
    const talos = client(await start(), { kind: "maintenance", fingerprints: ["AAAA", fingerprint] });
    expect((await talos.version()).tag).toBe("v1.13.9");
  });

  test("refuses any other certificate, in talosctl's words", async () => {
    const talos = client(await start(), { kind: "maintenance", fingerprints: ["AAAA"] });
    await expect(talos.version()).rejects.toMatchObject({
      code: "permission-denied",
      message: expect.stringContaining("leaf peer certificate doesn't match the provided fingerprints: [AAAA]"),
    });
  });

  test("trusts on first use only when told to, and shows what it trusted", async () => {
    const talos = client(await start(), { kind: "maintenance", trustOnFirstUse: true });
    await talos.version();
    expect(talos.fingerprint).toBe(fingerprint);
  });

  test("tells a machine that has a config by the client certificate that it wants", async () => {
    const { address } = await machine({ machine: { version } });
    const talos = client(address, { kind: "maintenance", trustOnFirstUse: true });
    await expect(talos.version({ deadline: 2000 })).rejects.toMatchObject({ code: "permission-denied" });
  });
});

describe("a look at the certificate", () => {
  test("tells machines of this CA from others", async () => {
    const { address } = await machine({});
    expect(await probe(address, { ca: ca.certificate })).toMatchObject({ signedByCa: true });
    expect(await probe(address, { ca: testAuthority().certificate })).toMatchObject({
      signedByCa: false,
      fingerprint: publicKeyFingerprint(certificate.certificate),
    });
  });

  test("ends with an error where nothing answers", async () => {
    await expect(probe("127.0.0.1:1")).rejects.toMatchObject({ code: "unavailable" });
    const proxy = await startProxy("127.0.0.1:1");
    open.push(proxy);
    proxy.silence();
    await expect(probe(proxy.address, { deadline: 100 })).rejects.toMatchObject({ code: "deadline-exceeded" });
  });
});
