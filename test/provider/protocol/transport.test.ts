// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Http2Server } from "node:http2";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../../../provider/protocol/hclog.ts";
import { createGrpcServer } from "../../../provider/protocol/transport/grpc-server.ts";
import {
  createServerCertificate,
  handshakeLine,
  readInvitation,
  type ServerCertificate,
} from "../../../provider/protocol/transport/handshake.ts";
import { watchParent } from "../../../provider/protocol/transport/listen.ts";

const now = new Date();
const ours = createServerCertificate(now);
const client = createServerCertificate(now);
const stranger = createServerCertificate(now);
const work = mkdtempSync(join(tmpdir(), "talosmith-transport-"));
const socket = join(work, "provider.sock");
let server: Http2Server;

beforeAll(async () => {
  server = createGrpcServer({
    handler: (path) => {
      if (path === "/test/Echo") return async (message) => message;
      if (path === "/test/Count")
        return async (message, send) => {
          send(Buffer.from("1"));
          send(Buffer.from("2"));
          return message;
        };
      if (path === "/test/Break")
        return async (message, send) => {
          send(message);
          throw new Error("no");
        };
      if (path === "/test/Fail") return () => Promise.reject(new Error("no: 100 %"));
      return undefined;
    },
    idleStreams: new Set(["/test/Idle"]),
    tls: { certificate: ours.certificate, key: ours.key, clientCertificate: client.der },
    onLastSessionClosed: () => undefined,
  });
  await new Promise<void>((done) => server.listen(socket, done));
});
afterAll(() => {
  server.close();
  rmSync(work, { recursive: true, force: true });
});

interface Answer {
  readonly status: string | undefined;
  readonly message: string;
  readonly body: Buffer;
}

/** One call as a gRPC client makes it; rejects when the connection is not accepted. */
function call(
  path: string,
  body: Buffer,
  credentials: ServerCertificate | undefined,
  maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
) {
  return new Promise<Answer>((resolve, reject) => {
    const session = connect("https://localhost", {
      createConnection: () =>
        connectTls({
          path: socket,
          ca: ours.certificate,
          servername: "localhost",
          ALPNProtocols: ["h2"],
          maxVersion,
          ...(credentials === undefined ? {} : { key: credentials.key, cert: credentials.certificate }),
        }),
    });
    const give = (error: unknown) => {
      session.destroy();
      reject(error);
    };
    session.on("error", give);
    session.on("close", () => reject(new Error("closed")));
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    let found: Record<string, unknown> = {};
    const parts: Buffer[] = [];
    stream.on("response", (headers) => {
      found = { ...found, ...headers };
    });
    stream.on("trailers", (headers) => {
      found = { ...found, ...headers };
    });
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", give);
    stream.on("end", () => {
      const status = found["grpc-status"];
      resolve({
        status: status === undefined ? undefined : String(status),
        message: decodeURIComponent(String(found["grpc-message"] ?? "")),
        body: Buffer.concat(parts),
      });
      session.destroy();
    });
    stream.end(body);
  });
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

describe("the gRPC server", () => {
  test("answers the one client that it was started by", async () => {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const answer = await call("/test/Echo", framed(Buffer.from("hello")), client, version);
      expect(answer).toMatchObject({ status: "0", body: framed(Buffer.from("hello")) });
    }
  });

  test.each([
    ["another certificate of the same subject", stranger],
    ["no certificate", undefined],
  ])("gives no answer to %s", async (_, credentials) => {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const)
      await expect(call("/test/Echo", framed(Buffer.from("hello")), credentials, version)).rejects.toThrow();
  });

  test("gives no answer without TLS", async () => {
    const plain = connectSocket(socket);
    const heard = new Promise<string>((resolve) => {
      let text = "";
      plain.on("data", (part) => {
        text += part.toString("latin1");
      });
      plain.on("close", () => resolve(text));
      plain.on("error", () => undefined);
    });
    plain.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    expect(await heard).not.toContain("grpc");
  });

  test("passes messages of 20 MB", async () => {
    const large = framed(Buffer.alloc(20 * 1024 * 1024, 7));
    const { body, status } = await call("/test/Echo", large, client);
    expect(status).toBe("0");
    expect(body.equals(large)).toBe(true);
  });

  test("streams what comes before the last message, and cuts off what fails meanwhile", async () => {
    const { body, status } = await call("/test/Count", framed(Buffer.from("3")), client);
    expect(status).toBe("0");
    expect(body).toEqual(Buffer.concat(["1", "2", "3"].map((text) => framed(Buffer.from(text)))));
    const broken = call("/test/Break", framed(Buffer.from("1")), client);
    expect(
      await broken.then(
        ({ status }) => status ?? "none",
        () => "none",
      ),
    ).toBe("none");
  });

  test("says what is not implemented, what is no message, and what failed", async () => {
    expect(await call("/test/Other", framed(Buffer.alloc(0)), client)).toMatchObject({ status: "12" });
    expect(await call("/test/Echo", Buffer.from([0, 0, 0]), client)).toMatchObject({ status: "3" });
    expect(await call("/test/Echo", Buffer.from([1, 0, 0, 0, 0]), client)).toMatchObject({ status: "3" });
    expect(await call("/test/Fail", framed(Buffer.alloc(0)), client)).toMatchObject({
      status: "13",
      message: "no: 100 %",
    });
  });
});

describe("the certificate", () => {
  test("is what go-plugin expects: for localhost, its own authority, valid now", () => {
    const parsed = new X509Certificate(ours.certificate);
    expect(parsed.subject).toBe("CN=localhost");
    expect(parsed.subjectAltName).toBe("DNS:localhost");
    expect(parsed.ca).toBe(true);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.raw.equals(ours.der)).toBe(true);
    expect(Date.parse(parsed.validFrom)).toBeLessThan(now.getTime());
    expect(Date.parse(parsed.validTo)).toBeGreaterThan(now.getTime());
  });
});

describe("the handshake", () => {
  const cookie = { TF_PLUGIN_MAGIC_COOKIE: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2" };

  test("tells a person that this is a provider, and an old Terraform that it is too old", () => {
    expect(() => readInvitation({})).toThrow("This is a Terraform provider");
    expect(() => readInvitation({ ...cookie, PLUGIN_PROTOCOL_VERSIONS: "5" })).toThrow("plugin protocol 6");
  });

  test("pins the client's certificate and answers in one line", () => {
    const invitation = readInvitation({
      ...cookie,
      PLUGIN_PROTOCOL_VERSIONS: "5,6",
      PLUGIN_CLIENT_CERT: client.certificate,
    });
    expect(invitation.clientCertificate?.equals(client.der)).toBe(true);
    expect(handshakeLine("/run/a.sock", undefined)).toBe("1|6|unix|/run/a.sock|grpc\n");
    expect(handshakeLine("/run/a.sock", Buffer.from("ab"))).toBe("1|6|unix|/run/a.sock|grpc|YWI\n");
  });
});

describe("the log", () => {
  test("is one JSON object per line, cut where it is too long", () => {
    const lines: string[] = [];
    const log = createLog((line) => lines.push(line));
    log("warn", "x".repeat(100_000), { machine: "cp-1", count: 2 });
    const [line = ""] = lines;
    expect(line.length).toBeLessThan(40_000);
    expect(JSON.parse(line)).toMatchObject({ "@level": "warn", "@module": "talosmith", machine: "cp-1", count: 2 });
    expect(JSON.parse(line)["@timestamp"]).toMatch(/\.\d{6}Z$/);
  });

  test("loses no line when the reader is slow", async () => {
    const source = `
      import { createLog } from "${join(import.meta.dirname, "../../../provider/protocol/hclog.ts")}";
      process.stderr._handle?.setBlocking?.(false);
      const log = createLog();
      for (let i = 0; i < 5000; i++) log("info", "line " + i + " " + "x".repeat(200));
    `;
    const { stderr } = await promisify(execFile)(
      process.execPath,
      ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", source],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
    expect(lines).toHaveLength(5000);
    expect(JSON.parse(lines[4999] ?? "{}")["@message"]).toContain("line 4999");
  });
});

describe("the watch on the parent", () => {
  test("tells once that it is gone", () => {
    let parent = 10;
    let told = 0;
    const watch = watchParent(
      () => (told += 1),
      () => parent,
    );
    watch.check();
    expect(told).toBe(0);
    parent = 1;
    watch.check();
    watch.check();
    expect(told).toBe(1);
  });
});
