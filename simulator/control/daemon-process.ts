// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { getRawAsset, isSea } from "node:sea";
import { textIfThere } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import { lockHolder, takeLock, wasLocked } from "./process-lock.ts";
import { type DaemonRecord, post, protocolVersion, recordFile } from "./protocol.ts";

export type DaemonCommand = readonly [string, ...string[]];

const patience = 20_000;
const pause = 25;
const watchInterval = 1_000;

/** The daemon's own word about itself, when it lives and answers. */
async function findDaemon(directory: string): Promise<DaemonRecord | undefined> {
  const record = await readRecord(directory);
  return record !== undefined && (await answers(record)) ? record : undefined;
}

/** Calls of this process with the same command that come while one of them is still looking or starting share its daemon. */
const underWay = new Map<string, Promise<DaemonRecord>>();

/** Finds the daemon or starts one. One that runs other code, or speaks another protocol, is ended first. */
export function ensureDaemon(directory: string, command: DaemonCommand): Promise<DaemonRecord> {
  const path = resolve(directory);
  const key = [path, ...command].join("\0");
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const daemon = findOrStart(path, command).finally(() => underWay.delete(key));
  underWay.set(key, daemon);
  daemon.then(
    () => restartWhenKilled(path, command),
    () => undefined,
  );
  return daemon;
}

const watched = new Set<string>();

/**
 * A command waits for machines without asking their daemon: if it is killed meanwhile, nothing else would start it again.
 * A daemon that ends in order removes its record first.
 */
function restartWhenKilled(path: string, command: DaemonCommand): void {
  if (watched.has(path)) return;
  watched.add(path);
  const stop = () => {
    clearInterval(timer);
    watched.delete(path);
  };
  const check = async () => {
    if ((await readRecord(path)) === undefined) return stop();
    if ((await lockHolder(path)) !== undefined) return;
    if (await hasMachines(path)) await ensureDaemon(path, command);
    else await removeEmptied(path);
  };
  // A daemon that does not start is reported by the next request to it.
  const timer = setInterval(() => void check().catch(stop), watchInterval);
  timer.unref();
}

/** Whether there are machines on disk, for a daemon to go on with. */
async function hasMachines(directory: string): Promise<boolean> {
  try {
    return (await readdir(join(directory, "machines"))).some((name) => name.endsWith(".json"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Whether no daemon answers and no machine is on disk: there is nothing to ask, and nothing to start. */
export async function isEmpty(directory: string): Promise<boolean> {
  const path = resolve(directory);
  if ((await hasMachines(path)) || (await findDaemon(path)) !== undefined) return false;
  await removeEmptied(path);
  return true;
}

/**
 * Removes what is left of a daemon that was killed between the removal of its last machine and that of its directory.
 * The lock keeps a daemon that starts at this moment from losing its files; before it has one, its directory has no lock.
 */
async function removeEmptied(path: string): Promise<void> {
  if ((await wasLocked(path)) && (await takeLock(path))) await rm(path, { recursive: true, force: true });
}

async function findOrStart(path: string, command: DaemonCommand): Promise<DaemonRecord> {
  const [found, code] = await Promise.all([findDaemon(path), codeIdentity(command)]);
  if (found !== undefined) {
    if (found.protocol === protocolVersion && !isOutdated(found.code, code)) return found;
    await end(path, found);
  }
  return start(path, command, code);
}

async function start(directory: string, command: DaemonCommand, code: string): Promise<DaemonRecord> {
  const deadline = performance.now() + patience;
  let child = await launch(directory, command, code);
  while (performance.now() < deadline) {
    const found = await findDaemon(directory);
    if (found !== undefined) return found;
    // Another one was faster, or it could not start: only without a living holder it is our turn again.
    if (child.ended() && (await lockHolder(directory)) === undefined) {
      if (child.failed()) break;
      child = await launch(directory, command, code);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
  throw new TalosError("unavailable", `the simulator's daemon did not start: ${await child.lastWords()}`, {
    hint: `look into ${logOf(directory)}`,
  });
}

interface Launched {
  ended(): boolean;
  failed(): boolean;
  /** How it ended, and what it wrote since it was started; older lines of the log are not about it. */
  lastWords(): Promise<string>;
}

const logOf = (directory: string): string => join(directory, "daemon.log");

/** Starts the daemon in a session of its own; its output goes to a file, because an inherited pipe would keep the caller's caller waiting. */
async function launch(directory: string, [program, ...args]: DaemonCommand, code: string): Promise<Launched> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const log = await openLog(logOf(directory));
  try {
    const { size } = await log.stat();
    const { NODE_OPTIONS: _options, NODE_CHANNEL_FD: _channel, ...environment } = process.env;
    const child = spawn(program, [...args, directory], {
      detached: true,
      // Not the directory itself: a process whose directory was removed while it starts does not start.
      cwd: dirname(directory),
      stdio: ["ignore", log.fd, log.fd],
      env: { ...environment, TALOSMITH_SIMULATOR_CODE: code },
    });
    let exit: number | undefined;
    let killed = "";
    child.once("error", () => {
      exit = -1;
    });
    child.once("exit", (status, signal) => {
      exit = status ?? -1;
      if (signal !== null) killed = `ended by ${signal}: `;
    });
    child.unref();
    return {
      ended: () => exit !== undefined,
      failed: () => exit !== undefined && exit !== 0,
      lastWords: async () => killed + (await lastWords(directory, size)),
    };
  } finally {
    await log.close();
  }
}

/** With a first line, because where that can't be written the daemon couldn't say either what is wrong. */
async function openLog(path: string): Promise<FileHandle> {
  let log: FileHandle | undefined;
  try {
    log = await open(path, "a", 0o600);
    await log.writeFile(`${new Date().toISOString()} starting\n`);
    return log;
  } catch (cause) {
    await log?.close();
    throw fileError("write", path, cause);
  }
}

/** Ends the daemon, if one runs, and waits until its process is gone. */
export async function endDaemon(directory: string): Promise<void> {
  const path = resolve(directory);
  const found = await findDaemon(path);
  if (found !== undefined) await end(path, found);
}

async function end(directory: string, daemon: DaemonRecord): Promise<void> {
  await request(daemon, "shutdown");
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    const holder = await lockHolder(directory);
    if (holder === undefined || holder.pid !== daemon.pid) return;
    await new Promise((done) => setTimeout(done, pause));
  }
  throw new TalosError("unavailable", `the simulator's old daemon (pid ${daemon.pid}) does not end`);
}

async function readRecord(directory: string): Promise<DaemonRecord | undefined> {
  const text = await textIfThere(join(directory, recordFile));
  try {
    return JSON.parse(text ?? "") as DaemonRecord;
  } catch {
    return undefined;
  }
}

async function answers(record: DaemonRecord): Promise<boolean> {
  return (await request(record, "hello")) === 200;
}

/** The status of a call, undefined when nobody answers. A stranger on that port does not know the token. */
async function request(record: DaemonRecord, name: string): Promise<number | undefined> {
  try {
    return (await post(record, name, "{}", 5_000)).status;
  } catch {
    // Refused, reset or silent: all mean that no daemon is there.
    return undefined;
  }
}

async function lastWords(directory: string, from: number): Promise<string> {
  try {
    const said = (await readFile(logOf(directory))).subarray(from).toString("utf8");
    return said.trim().split("\n").slice(-3).join(" | ") || "it logged nothing";
  } catch {
    return "it left no log";
  }
}

/** The folders that the daemon is made from, beside the files of `talos/` itself. */
const folders = [
  "simulator",
  "talos/api/gen",
  "talos/config",
  "talos/image",
  "talos/pki",
  "talos/secrets",
  "talos/version",
  "talos/yaml",
];

/**
 * Names the code that a command would run, so that a daemon of older code can be told from one of this code: a bundle by
 * its content, a checkout by its source files. Both begin with their kind: a bundle and a checkout of the same
 * protocol get along, they do not replace each other's daemons in turns.
 */
async function codeIdentity(daemonCommand: readonly string[]): Promise<string> {
  const entry = daemonCommand.at(-1) ?? "";
  if (!entry.endsWith(".ts")) {
    return `bundle:${createHash("sha256")
      .update(await bundledFile(entry))
      .digest("hex")
      .slice(0, 16)}`;
  }
  const files = await codeFiles(entry);
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return `checkout:${hash.digest("hex").slice(0, 16)}`;
}

/** From the directory of the bundle, or from inside of an executable that is made of it. */
async function bundledFile(file: string): Promise<Buffer> {
  return isSea() ? Buffer.from(getRawAsset(basename(file)) as ArrayBuffer) : readFile(file);
}

/** True when a daemon of this code must give way to one of the other. */
function isOutdated(running: string, wanted: string): boolean {
  return running !== wanted && running.split(":", 1)[0] === wanted.split(":", 1)[0];
}

/** The source files of a checkout's daemon, by its entry. */
export async function codeFiles(entry: string): Promise<string[]> {
  const root = join(dirname(entry), "..");
  const lists = await Promise.all([
    sourceFiles(join(root, "talos"), false),
    ...folders.map((folder) => sourceFiles(join(root, folder), true)),
  ]);
  return lists.flat();
}

async function sourceFiles(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
