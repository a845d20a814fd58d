// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { snapshotStatus } from "../../../engine/backup/index.ts";
import { realSnapshot, rehashed } from "../../support/etcd-snapshot.ts";

describe("the status of a snapshot", () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-status-"));
  const path = join(folder, "etcd.db");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("is what etcdutl says of a snapshot of a real etcd", async () => {
    writeFileSync(path, realSnapshot);
    const etcdutl = JSON.parse(readFileSync("test/golden/etcd/etcdutl-3.6.5-status.json", "utf8"));
    const status = await snapshotStatus(path);
    expect(Number.parseInt(status.hash, 16)).toBe(etcdutl.hash);
    expect(status.revision).toBe(etcdutl.revision);
    expect(status.bytes).toBe(etcdutl.totalSize + 32);
  });

  const database = realSnapshot.subarray(0, -32);
  const pageHead = (page: number) => page * 4_096;
  test.each<[string, (file: Buffer) => void, string]>([
    ["has no head", (file) => file.fill(0, 0, 8_192), "does not begin like one"],
    ["points to a page that is not there", (file) => breakRoots(file, 9_999_999n), "points to page"],
    ["points in a circle", (file) => file.copy(file, pageHead(rootOf(file)), pageHead(1), pageHead(1) + 16), "page"],
  ])("a database that %s is refused, whatever its hash says", async (_name, spoil, reason) => {
    const file = Buffer.from(database);
    spoil(file);
    writeFileSync(path, rehashed(file));
    await expect(snapshotStatus(path)).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining(reason),
    });
  });

  test("any damage to the pages ends in a status or in one of our errors, never in a crash", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(database.length - 9), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), async (at, value) => {
        const file = Buffer.from(database);
        file.writeBigUInt64LE(value, at);
        writeFileSync(path, rehashed(file));
        await snapshotStatus(path).catch((error) => expect(error).toMatchObject({ code: "failed-precondition" }));
      }),
      { numRuns: 30 },
    );
  });
});

function rootOf(file: Buffer): number {
  return Number(file.readBigUInt64LE(16 + 16));
}

/** In both heads, with their checksums made anew. */
function breakRoots(file: Buffer, root: bigint): void {
  for (const head of [0, 4_096]) {
    const body = file.subarray(head + 16, head + 80);
    body.writeBigUInt64LE(root, 16);
    let hash = 0xcbf29ce484222325n;
    for (const byte of body.subarray(0, 56)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    body.writeBigUInt64LE(hash, 56);
  }
}
