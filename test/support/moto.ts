// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const release = "5.2.5";

/** A real S3 server of its own, on loopback. */
export interface Moto {
  readonly endpoint: string;
  stop(): void;
}

/**
 * Starts moto's S3 server from TALOSMITH_MOTO (a virtual environment), else from one that is made once per computer in
 * the temporary folder. Undefined, with the reason, where there is no Python or no registry.
 */
export async function startMoto(): Promise<Moto | { readonly missing: string }> {
  const environment = await virtualEnvironment();
  if (typeof environment !== "string") return environment;
  const port = await freePort();
  // As a module: the scripts of a virtual environment name the folder that it was made in.
  const args = ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)];
  const server = spawn(join(environment, "bin", "python"), args, { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await answers(endpoint, server);
  return { endpoint, stop: () => void server.kill("SIGKILL") };
}

/** Where no registry answers, the tests go on without it soon. */
const patience = ["--timeout", "10", "--retries", "1"];

async function virtualEnvironment(): Promise<string | { readonly missing: string }> {
  const given = process.env.TALOSMITH_MOTO;
  if (given) return given;
  const folder = join(tmpdir(), `talosmith-${userInfo().uid}-moto-${release}`);
  const making = `${folder}.making`;
  await whileMade(folder, making);
  if (existsSync(folder)) return folder;
  try {
    await mkdir(making, { recursive: true });
    await run("python3", ["-m", "venv", making], { timeout: 120_000 });
    const install = [
      "-m",
      "pip",
      "install",
      "--quiet",
      // Of its thousands of modules a test server loads few.
      "--no-compile",
      "--disable-pip-version-check",
      ...patience,
      `moto[server,s3]==${release}`,
    ];
    await run(join(making, "bin", "python"), install, { timeout: 240_000 });
    await rename(making, folder);
    return folder;
  } catch (error) {
    // Children of a pip that was ended may still write.
    await rm(making, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    return { missing: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

/** Longer than the making may take: whoever began it is gone then. */
const abandoned = 400_000;

/** Waits for another process that makes the same: two at once would cost twice the time. */
async function whileMade(folder: string, making: string): Promise<void> {
  while (!existsSync(folder)) {
    const begun = await stat(making).then(
      ({ birthtimeMs }) => birthtimeMs,
      () => undefined,
    );
    if (begun === undefined) return;
    if (Date.now() - begun > abandoned) return rm(making, { recursive: true, force: true });
    await new Promise((done) => setTimeout(done, 500));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function answers(endpoint: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (server.exitCode !== null) throw new Error(`moto ended with code ${server.exitCode}`);
    try {
      await fetch(`${endpoint}/moto-api/`, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  server.kill("SIGKILL");
  throw new Error("moto does not answer");
}
