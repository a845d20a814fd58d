// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerWritableStream } from "@grpc/grpc-js";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { largeSnapshot } from "../../../scripts/bench/large-snapshot.ts";
import type { Data } from "../../../talos/api/gen/common/common.ts";
import { EtcdStatusResponse } from "../../../talos/api/gen/machine/etcd.ts";
import { MachineServiceService } from "../../../talos/api/gen/machine/machine.ts";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import { issueAdminCredentials } from "../../../talos/config/index.ts";
import { issueCertificate, keyForNode } from "../../../talos/pki/index.ts";
import { everything } from "../../support/everything.ts";
import { startMoto } from "../../support/moto.ts";
import { testSecrets } from "../fixture.ts";

/** A gigabyte under `npm run test:all`; otherwise as much as shows that every part fits. */
const megabytesOfEtcd = everything ? 1024 : 16;
const bytesOfEtcd = megabytesOfEtcd * 1024 * 1024;
/** One in each page of 4 KiB; the first revision of an etcd is 2. */
const lastRevision = bytesOfEtcd / 4096 + 1;
/** What a process may use at most, however large the snapshot. */
const mostMegabytes = 150;

const moto = everything ? await startMoto() : { missing: "only under npm run test:all" };
if ("missing" in moto) console.warn(`SKIPPED a large backup to a real S3 server: ${moto.missing}`);

describe("a backup of a large etcd", { timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-large-"));
  const program = join(folder, "large-backup.mjs");
  const server = new Server();
  let endpoint: string;

  beforeAll(async () => {
    const { os } = testSecrets().certs;
    const now = Date.now();
    const identity = issueCertificate(
      os,
      {
        subject: { commonName: "cp-1" },
        ipAddresses: ["127.0.0.1"],
        notBefore: new Date(now - 60_000),
        notAfter: new Date(now + 3_600_000),
        usages: ["serverAuth"],
        keyUsages: ["digitalSignature"],
      },
      { entropy: systemEntropy },
    );
    const { etcdSnapshot, etcdStatus } = MachineServiceService;
    server.addService(
      { etcdSnapshot, etcdStatus },
      {
        etcdStatus: (_call: unknown, reply: (error: null, value: EtcdStatusResponse) => void) =>
          reply(null, EtcdStatusResponse.fromPartial({ messages: [{ memberStatus: { memberId: 1n, leader: 1n } }] })),
        etcdSnapshot: (call: ServerWritableStream<unknown, Data>) => void send(call),
      },
    );
    const pair = { private_key: Buffer.from(keyForNode(identity.key)), cert_chain: Buffer.from(identity.certificate) };
    const credentials = ServerCredentials.createSsl(Buffer.from(os.certificate), [pair], true);
    const port = await new Promise<number>((done, fail) =>
      server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? fail(error) : done(bound))),
    );
    endpoint = `127.0.0.1:${port}`;
    // As users run it: compiled, in a process of its own.
    const options = { bundle: true, platform: "node", format: "esm", target: "node20" } as const;
    const banner = {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    };
    buildSync({ ...options, banner, entryPoints: ["test/engine/backup/large-backup.ts"], outfile: program });
  });

  afterAll(() => {
    server.forceShutdown();
    if (!("missing" in moto)) moto.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(call: ServerWritableStream<unknown, Data>): Promise<void> {
    let waiting: Buffer[] = [];
    const flush = async () => {
      const going = call.write({ metadata: undefined, bytes: Buffer.concat(waiting) });
      waiting = [];
      if (!going) await once(call, "drain");
    };
    for await (const piece of largeSnapshot(bytesOfEtcd)) if (waiting.push(piece) === 32) await flush();
    await flush();
    call.end();
  }

  async function backUp(target: object) {
    const pair = issueAdminCredentials(testSecrets(), { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
    const credentials = { ca: testSecrets().certs.os.certificate, ...pair };
    const keysOfS3 = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test", AWS_EC2_METADATA_DISABLED: "true" };
    const env = { ...process.env, ...keysOfS3, TMPDIR: folder };
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], env });
    child.stdin.end(JSON.stringify({ endpoint, credentials, target }));
    let out = "";
    child.stdout.on("data", (text) => {
      out += text;
    });
    await once(child, "close");
    return JSON.parse(out) as {
      readonly backup: { readonly bytes: number; readonly revision: number };
      readonly megabytes: number;
    };
  }

  test("goes to a folder in little memory, and is read from end to end", async () => {
    const { backup, megabytes } = await backUp({ directory: join(folder, "backups") });
    expect(backup.bytes).toBeGreaterThan(bytesOfEtcd);
    expect(backup.revision).toBe(lastRevision);
    expect(megabytes).toBeLessThan(mostMegabytes);
    console.info(`${megabytesOfEtcd} MiB to a folder: ${megabytes.toFixed(0)} MB at most`);
  });

  test.skipIf("missing" in moto)("goes to a bucket in little memory", async () => {
    const at = "missing" in moto ? "" : moto.endpoint;
    await fetch(`${at}/large`, { method: "PUT" });
    const { backup, megabytes } = await backUp({ s3: { bucket: "large", endpoint: at } });
    expect(backup.revision).toBe(lastRevision);
    expect(megabytes).toBeLessThan(mostMegabytes);
    console.info(`${megabytesOfEtcd} MiB to a bucket: ${megabytes.toFixed(0)} MB at most`);
  });
});
