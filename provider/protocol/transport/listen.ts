// SPDX-License-Identifier: Apache-2.0
import { rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallHandler, createGrpcServer } from "./grpc-server.ts";
import { createServerCertificate, handshakeLine, readInvitation } from "./handshake.ts";

const idleStreams: ReadonlySet<string> = new Set(["/plugin.GRPCStdio/StreamStdio", "/plugin.GRPCBroker/StartStream"]);
const shutdownPath = "/plugin.GRPCController/Shutdown";
/** Longest wait for an answer that is still on its way out. */
const lastWords = 250;
/** After SIGTERM, so long without a call means that Terraform wants no more of us. */
const quiet = 2_000;
/** As long as go-plugin waits for us; who has not come by then was killed meanwhile. */
const patience = 60_000;

/** What answers Terraform's calls. */
export interface Session {
  handler(path: string): CallHandler | undefined;
  /** Asks every running operation to stop at its next safe point. */
  stop(): void;
}

export interface ServeOptions {
  /** Milliseconds without anybody who connects, after which we leave. @default 60,000 */
  readonly patience?: number;
  /** Makes the folder for the socket in another one. */
  readonly socketFolder: (parent: string) => string;
}

/**
 * Runs a provider as Terraform's child process, until Terraform says so or is gone. What answers the calls is opened
 * when the handshake is out: Terraform has to connect meanwhile, and half of its starts of us end after one call.
 */
export function listen(open: () => Promise<Session>, options: ServeOptions): void {
  const invitation = readInvitation(process.env);
  let session: Promise<Session> | undefined;
  const stop = () => void session?.then((opened) => opened.stop());
  const directory = options.socketFolder(invitation.socketDirectory ?? tmpdir());
  const socket = join(directory, "provider.sock");
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  reportCrashes();

  const leave = () => {
    stop();
    setTimeout(() => process.exit(0), lastWords);
  };
  const parent = watchParent(leave);
  const calls = new CallCounter();
  let connected = false;
  const lonely = setTimeout(leave, options.patience ?? patience);
  // Ctrl-C reaches the whole group; Terraform itself tells us what to do about it.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => {
    stop();
    // Where nobody is connected, nobody can call any more: only what runs is waited for.
    calls.onQuiet(
      () => (connected ? quiet : 0),
      () => process.exit(0),
    );
  });

  const shutdown: CallHandler = async () => new Uint8Array(0);
  const { clientCertificate } = invitation;
  const own = clientCertificate && createServerCertificate(new Date());
  const grpc = createGrpcServer({
    handler: async (path) => {
      if (path === shutdownPath) return shutdown;
      const answer = (await session)?.handler(path);
      return answer && ((message, send) => calls.during(answer(message, send)));
    },
    idleStreams,
    tls: own && { certificate: own.certificate, key: own.key, clientCertificate },
    // Terraform waits for our end, and starts us several times a run.
    onAnswered: (path) => {
      if (path === shutdownPath) setImmediate(() => process.exit(0));
    },
    onFirstSessionOpened: () => {
      connected = true;
      clearTimeout(lonely);
    },
    onLastSessionClosed: () => {
      connected = false;
      setTimeout(() => parent.check(), 50);
    },
  });
  grpc.listen(socket, () => {
    writeSync(1, handshakeLine(socket, own?.der));
    session = open();
  });
}

/** Knows whether a call is under way, and since when none is. */
class CallCounter {
  #running = 0;
  #since = performance.now();

  async during<T>(call: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await call;
    } finally {
      this.#running -= 1;
      this.#since = performance.now();
    }
  }

  onQuiet(milliseconds: () => number, then: () => void): void {
    setInterval(() => {
      if (this.#running === 0 && performance.now() - this.#since >= milliseconds()) then();
    }, 100);
  }
}

/** Terraform shows what comes after "panic:" to the user; a bare exit would be "plugin did not respond". */
function reportCrashes(): void {
  process.on("uncaughtException", (error) => {
    writeSync(2, `panic: ${error.stack ?? error.message}\n`);
    process.exit(2);
  });
}

/**
 * Calls back once when the process that started us is gone. stdin can't tell (it is Terraform's own), and a killed
 * Terraform says nothing; but we then get another parent.
 */
export function watchParent(onGone: () => void, parent: () => number = () => process.ppid): { check(): void } {
  const first = parent();
  let told = false;
  const check = () => {
    if (told || parent() === first) return;
    told = true;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(check, 1000);
  timer.unref();
  return { check };
}
