// SPDX-License-Identifier: Apache-2.0
import { request } from "node:http";
import type { DaemonRecord } from "./protocol.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request to the daemon. By Node's own client, not by fetch: that takes longer to load than a plan asks. */
export function post(daemon: DaemonRecord, name: string, body: string, milliseconds: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: "127.0.0.1",
        port: daemon.port,
        path: `/${name}`,
        method: "POST",
        agent: false,
        headers: {
          authorization: `Bearer ${daemon.token}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
        signal: AbortSignal.timeout(milliseconds),
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
        );
        response.on("error", reject);
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}
