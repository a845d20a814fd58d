// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { compiled } from "./compiled.ts";
import type { Measurement, Row } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

const bytes = 1024 ** 3;
const limit = 150;

/** Memory stays flat however large the snapshot is. */
export const backupMemory: readonly Row[] = (["a folder", "S3"] as const).map((where) => ({
  name: `memory of a 1 GiB backup to ${where}`,
  anchor: `${limit} MB`,
  budget: 1,
  measure: () => (where === "S3" ? toS3() : measured(scratchFolder())),
}));

/** A store that takes everything and keeps nothing: what counts is the sender. */
async function toS3(): Promise<Measurement> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.setHeader("ETag", '"part"');
      const begin = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
      const end = "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>";
      response.end(request.method !== "POST" ? "" : request.url?.includes("uploads") ? begin : end);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    return await measured(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

async function measured(target: string): Promise<Measurement> {
  const started = performance.now();
  const env = { ...process.env, AWS_ACCESS_KEY_ID: "bench", AWS_SECRET_ACCESS_KEY: "bench" };
  const script = await compiled("./backup-once.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(bytes), target], { env });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  return { ours: Number(stdout), anchor: limit, unit: "MB", note: `${seconds} s` };
}
