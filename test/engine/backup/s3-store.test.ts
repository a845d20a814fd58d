// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../engine/backup/index.ts";
import { startMoto } from "../../support/moto.ts";
import { storeRules } from "./store-rules.ts";
import { take } from "./take.ts";

const moto = await startMoto();
if ("missing" in moto) console.warn(`SKIPPED everything with a real S3 server: ${moto.missing}`);
const endpoint = "missing" in moto ? "" : moto.endpoint;
const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test", AWS_EC2_METADATA_DISABLED: "true" };

const environment = { ...process.env };
const restoreEnvironment = () => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
};

beforeAll(() => {
  Object.assign(process.env, keys);
});
afterAll(() => {
  restoreEnvironment();
  if (!("missing" in moto)) moto.stop();
});

let prefixes = 0;

describe.skipIf("missing" in moto)("backups in a bucket", () => {
  beforeAll(async () => {
    await fetch(`${endpoint}/backups`, { method: "PUT" });
  });
  storeRules(() => openStore({ s3: { bucket: "backups", prefix: `p${prefixes++}`, endpoint, sse: "AES256" } }, ""));

  test("a bucket that is not there is named", async () => {
    const store = await openStore({ s3: { bucket: "nowhere", endpoint } }, "");
    await expect(take(store)).rejects.toMatchObject({
      code: "not-found",
      message: "s3://nowhere: there is no such bucket",
    });
  });
});

describe("a store that refuses", () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());
  const serving = (answer: Parameters<typeof createServer>[1]) =>
    new Promise<string>((done) => {
      const listening = createServer(answer).listen(0, "127.0.0.1", () => {
        done(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`);
      });
      server = listening;
    });

  test("is told with the reason, and its parts are given up", async () => {
    const asked: string[] = [];
    const at = await serving((request, response) => {
      asked.push(`${request.method} ${request.url?.replace(/\/b\/lab-[^?]+/, "/b/lab")}`);
      request.resume();
      request.on("end", () => {
        if (request.method === "POST") {
          response.end("<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>");
          return;
        }
        response.statusCode = request.method === "DELETE" ? 204 : 403;
        response.end(
          request.method === "DELETE" ? "" : "<Error><Code>AccessDenied</Code><Message>no</Message></Error>",
        );
      });
    });
    const store = await openStore({ s3: { bucket: "b", endpoint: at } }, "");
    await expect(take(store)).rejects.toMatchObject({
      code: "permission-denied",
      message: "s3://b: the store refuses: AccessDenied: no",
    });
    expect(asked.slice(0, 3)).toEqual([
      "POST /b/lab?uploads=",
      "PUT /b/lab?partNumber=1&uploadId=u1&x-id=UploadPart",
      "DELETE /b/lab?uploadId=u1&x-id=AbortMultipartUpload",
    ]);
  });

  test("is asked for every page of a long list", async () => {
    const page = (keys: string, more: string) => `<ListBucketResult>${keys}${more}</ListBucketResult>`;
    const at = await serving((request, response) => {
      const second = request.url?.includes("continuation-token=next");
      const key = (name: string) => `<Contents><Key>lab/${name}</Key><Size>1</Size></Contents>`;
      response.end(second ? page(key("b"), "") : page(key("a"), "<NextContinuationToken>next</NextContinuationToken>"));
    });
    const store = await openStore({ s3: { bucket: "b", prefix: "lab", endpoint: at } }, "");
    expect(await store.list()).toEqual([
      { name: "a", bytes: 1 },
      { name: "b", bytes: 1 },
    ]);
  });

  test("is rid of old parts of backups, and keeps the uploads of others in the same bucket", async () => {
    const given: string[] = [];
    const old = ["lab-20250101T000000Z-0a1b.db", "dump.sql", "other/lab-20250101T000000Z-0a1b.db"];
    const at = await serving((request, response) => {
      if (request.method === "DELETE") given.push(String(request.url));
      const upload = (key: string) =>
        `<Upload><Key>${key}</Key><UploadId>u</UploadId><Initiated>2025-01-01T00:00:00.000Z</Initiated></Upload>`;
      const list = `<ListMultipartUploadsResult>${old.map(upload).join("")}</ListMultipartUploadsResult>`;
      response.statusCode = request.method === "DELETE" ? 204 : 200;
      response.end(request.method === "DELETE" ? "" : list);
    });
    const store = await openStore({ s3: { bucket: "b", endpoint: at } }, "");
    await store.sweep(new Date("2025-01-03T00:00:00Z"));
    expect(given.map((url) => url.replace(/\?.*/, ""))).toEqual(["/b/lab-20250101T000000Z-0a1b.db"]);
  });

  test("is told when the connection is cut, after some attempts", async () => {
    let cuts = 0;
    const at = await serving((request) => {
      cuts += 1;
      request.socket.destroy();
    });
    const store = await openStore({ s3: { bucket: "b", endpoint: at } }, "");
    await expect(store.list()).rejects.toMatchObject({ code: "unavailable" });
    expect(cuts).toBeGreaterThan(2);
  });

  test("without credentials nothing is asked, and it is said where they are looked for", async () => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: "true", HOME: "/nowhere" });
    try {
      const store = await openStore({ s3: { bucket: "b", endpoint: "http://127.0.0.1:1" } }, "");
      await expect(store.list()).rejects.toMatchObject({
        code: "failed-precondition",
        message: expect.stringContaining("no AWS credentials"),
      });
    } finally {
      restoreEnvironment();
      Object.assign(process.env, keys);
    }
  });
});
