// SPDX-License-Identifier: Apache-2.0
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { TalosError } from "../talos/errors.ts";
import { collect, type ProcessFacts } from "./metrics/collect.ts";
import { contentType, definitions, expose } from "./metrics/definitions.ts";
import type { StatusRecord } from "./status-record.ts";

export interface ServerOptions {
  /** Empty: every address that there is. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly record: StatusRecord;
  readonly facts: () => ProcessFacts;
}

export interface RunningServer {
  readonly address: string;
  close(): Promise<void>;
}

/** `/metrics`, `/healthz` and `/readyz`; nothing can be changed through it, and nothing secret be read. */
export async function serveOperator({ host, port, record, facts }: ServerOptions): Promise<RunningServer> {
  const server = createServer((request, response) => {
    const { status, text, type = "text/plain; charset=utf-8" } = answerTo(request, record, facts);
    response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(`${host}:${port}`, cause)));
    // Without a host Node takes IPv4 alone where there is no IPv6.
    if (host === "") server.listen(port, resolve);
    else server.listen(port, host, resolve);
  });
  const { port: opened, address } = server.address() as AddressInfo;
  return {
    address: `http://${address.includes(":") ? `[${address}]` : address}:${opened}`,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function cannotListen(address: string, cause: NodeJS.ErrnoException): TalosError {
  const reason = cause.code === "EADDRINUSE" ? "another program has that port, perhaps another operate" : cause.message;
  return new TalosError("unavailable", `cannot serve metrics on ${address}: ${reason}`, {
    hint: "Choose another address or port with --listen, such as --listen 127.0.0.1:9181; port 0 takes a free one.",
    cause,
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

function answerTo({ method, url = "/" }: IncomingMessage, record: StatusRecord, facts: () => ProcessFacts): Answer {
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "GET or HEAD\n" };
  switch (url.split("?")[0]) {
    case "/metrics":
      return { status: 200, text: expose(definitions, collect(record, facts())), type: contentType };
    case "/healthz":
      return { status: 200, text: "ok\n" };
    case "/readyz": {
      const unready = record.unready();
      return { status: unready === undefined ? 200 : 503, text: `${unready ?? "ok"}\n` };
    }
    default:
      return { status: 404, text: "/metrics, /healthz or /readyz\n" };
  }
}
