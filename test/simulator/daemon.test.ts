// SPDX-License-Identifier: Apache-2.0
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../../provider/types/client.ts";
import { type SimulatorControl, simulatorAt } from "../../simulator/control/index.ts";

let folder: string;
let bundle: string;
const controls: SimulatorControl[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "talosmith-daemon-"));
  bundle = join(folder, "simulator-daemon.cjs");
  await build({
    entryPoints: ["simulator/daemon.ts"],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    outfile: bundle,
    logLevel: "silent",
  });
});

afterAll(async () => {
  await Promise.all(controls.map((control) => control.shutdown()));
  await rm(folder, { recursive: true, force: true });
});

function control(directory: string, command = bundle): SimulatorControl {
  const opened = simulatorAt(join(folder, directory), { daemonCommand: [process.execPath, command] });
  controls.push(opened);
  return opened;
}

interface Recorded {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

async function record(directory: string): Promise<Recorded> {
  return JSON.parse(await readFile(join(folder, directory, "daemon.json"), "utf8")) as Recorded;
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function accepts(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(50_000, address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** What comes to one port goes on to another. */
function forward(from: number, to: number) {
  return createServer((socket) => {
    const next = connect(to, "127.0.0.1");
    for (const side of [socket, next]) side.on("error", () => undefined);
    socket.pipe(next).pipe(socket);
  }).listen(from, "127.0.0.1");
}

describe("the simulator's daemon", () => {
  it("keeps a machine for its owner, also over a restart, until it is handed over", async () => {
    const simulator = control("owned");
    const cp = { name: "cp-1", cluster: "demo" };
    const { id } = await simulator.createMachine(cp);
    // Nobody's machine goes to the first who says a name.
    expect(await simulator.createMachine({ ...cp, owner: "first" })).toMatchObject({ id });
    await simulator.shutdown();
    expect(await simulator.createMachine({ ...cp, owner: "first" })).toMatchObject({ id });
    expect(await simulator.createMachine(cp)).toMatchObject({ id });
    await expect(simulator.createMachine({ ...cp, owner: "second" })).rejects.toMatchObject({
      code: "conflict",
      message: "the simulated machine cp-1 belongs to another state: first",
      hint: expect.stringMatching(new RegExp(`^This is second\\..*terraform import .* ${id}`)),
    });
    await simulator.setOwner(id, "second");
    expect(await simulator.createMachine({ ...cp, owner: "second" })).toMatchObject({ id });
    await expect(simulator.createMachine({ ...cp, owner: "first" })).rejects.toThrow("another state: second");
    await simulator.deleteMachine(id);
  });

  it("tells which machine cannot listen because another program has its port, and goes on when it is free", async () => {
    const owner = control("occupied");
    const [first, second] = [
      await owner.createMachine({ name: "cp-1", cluster: "occupied" }),
      await owner.createMachine({ name: "cp-2", cluster: "occupied" }),
    ];
    await owner.shutdown();
    const squatter = createServer().listen(50_000, first.address);
    await once(squatter, "listening");
    try {
      const problem = `another program has port 50000 at ${first.address}`;
      expect((await owner.listMachines()).map((machine) => machine.problem)).toEqual([problem, undefined]);
      expect(await accepts(second.address)).toBe(true);
      await expect(owner.createMachine({ name: "cp-1", cluster: "occupied" })).rejects.toMatchObject({
        code: "failed-precondition",
        message: `the simulated machine cp-1 cannot listen: ${problem}`,
      });
    } finally {
      squatter.close();
      await once(squatter, "close");
    }
    expect(await owner.createMachine({ name: "cp-1", cluster: "occupied" })).not.toHaveProperty("problem");
    expect(await accepts(first.address)).toBe(true);
    for (const { id } of [first, second]) await owner.deleteMachine(id);
  });

  it("starts once for two clients that come at the same time, and makes one machine of one name", async () => {
    const [a, b] = [control("twins"), control("twins")];
    const input = { name: "cp-1", cluster: "twins" };
    const [first, second] = await Promise.all([a.createMachine(input), b.createMachine(input)]);
    expect(second.id).toBe(first.id);
    expect(first).toMatchObject({ name: "cp-1", cluster: "twins", stage: "maintenance", talosVersion: "v1.13.9" });
    expect(first.address).toMatch(/^127\.\d+\.\d+\.2$/);
    expect(await accepts(first.address)).toBe(true);
    expect((await readdir(join(folder, "twins"))).filter((name) => name.startsWith("lock."))).toHaveLength(1);
  });

  it("keeps what it writes to itself", async () => {
    const machines = join(folder, "twins", "machines");
    for (const file of [
      join(folder, "twins", "daemon.json"),
      // What is being written is another name by the time that we look.
      ...(await readdir(machines)).filter((name) => !name.endsWith(".tmp")).map((name) => join(machines, name)),
    ]) {
      expect((await stat(file)).mode & 0o077, file).toBe(0);
    }
  });

  it("refuses who does not know its token", async () => {
    const { port } = await record("twins");
    const response = await fetch(`http://127.0.0.1:${port}/list-machines`, { method: "POST", body: "{}" });
    expect(response.status).toBe(401);
  });

  it("comes back from disk after a kill: same machines, same addresses, same fingerprints", async () => {
    const twins = control("twins");
    const before = await twins.listMachines();
    const { pid } = await record("twins");
    process.kill(pid, "SIGKILL");
    await eventually(() => !lives(pid), "the killed daemon is gone");
    const after = await twins.listMachines();
    expect(after).toEqual(before);
    expect((await record("twins")).pid).not.toBe(pid);
    expect(await accepts(before[0]?.address ?? "")).toBe(true);
  });

  it("is started again after a kill while a process that contacted it runs", async () => {
    const [machine] = await control("twins").listMachines();
    const { pid } = await record("twins");
    process.kill(pid, "SIGKILL");
    await eventually(async () => (await record("twins")).pid !== pid, "another daemon runs");
    expect(await accepts(machine?.address ?? "")).toBe(true);
  });

  it("runs before the provider works on simulated machines, and is not started for others", async () => {
    const root = join(folder, "project");
    const daemonCommand = [process.execPath, bundle] as const;
    const client = new Client({ root, secrets: {} as Client["secrets"], environment: {}, daemonCommand });
    const simulator = await client.simulator();
    controls.push(simulator);
    const { address } = await simulator.createMachine({ name: "cp-1", cluster: "test" });
    await simulator.shutdown();
    await client.keepSimulator(["10.5.0.2"]);
    expect(await accepts(address)).toBe(false);
    await client.keepSimulator(["10.5.0.2", address]);
    expect(await accepts(address)).toBe(true);
  });

  it("gives way to other code", async () => {
    const { pid } = await record("twins");
    const newer = join(folder, "newer.cjs");
    await writeFile(newer, `${await readFile(bundle, "utf8")}\n// changed\n`);
    await control("twins", newer).listMachines();
    expect((await record("twins")).pid).not.toBe(pid);
    await eventually(() => !lives(pid), "the old daemon is gone");
  });

  it("lives in a session of its own and survives who started it", async () => {
    const { pid } = await record("twins");
    const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    if (line === undefined) return;
    const [, , , session] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    expect(Number(session)).toBe(pid);
  });

  it("lives through a record that cannot be read for a while", async () => {
    const opened = control("unreadable");
    await opened.createMachine({ name: "cp-1", cluster: "test" });
    const { pid } = await record("unreadable");
    const file = join(folder, "unreadable", "daemon.json");
    const [kept, loop] = [`${file}.kept`, `${file}.loop`];
    await copyFile(file, kept);
    // A link to itself, put there in one step: a record that is not there would end the daemon.
    await symlink("daemon.json", loop);
    await rename(loop, file);
    await new Promise((done) => setTimeout(done, 3_000));
    expect(lives(pid)).toBe(true);
    await rename(kept, file);
    expect(await opened.listMachines()).toMatchObject([{ name: "cp-1" }]);
    expect((await record("unreadable")).pid).toBe(pid);
  });

  it("gives two directories different networks", async () => {
    const other = control("other");
    const machine = await other.createMachine({ name: "cp-1", cluster: "other" });
    const [twin] = await control("twins").listMachines();
    expect(machine.address.split(".").slice(0, 3)).not.toEqual(twin?.address.split(".").slice(0, 3));
    await other.deleteMachine(machine.id);
  });

  it("ends and removes its directory with the last machine", async () => {
    const twins = control("twins");
    const { pid } = await record("twins");
    const [machine] = await twins.listMachines();
    await twins.deleteMachine(machine?.id ?? "");
    await eventually(() => !lives(pid) && !existsSync(join(folder, "twins")), "the daemon and its directory are gone");
    expect(await accepts(machine?.address ?? "")).toBe(false);
    // Who knew it does not start another for nothing.
    expect(await twins.listMachines()).toEqual([]);
    await twins.deleteMachine(machine?.id ?? "");
    expect(existsSync(join(folder, "twins"))).toBe(false);
  });

  it.each<[string, (directory: string) => Promise<unknown>]>([
    ["by the process that contacted it", async () => undefined],
    ["by the next list", (directory) => control(directory).listMachines()],
    ["by the next delete", (directory) => control(directory).deleteMachine("cp-1")],
  ])(
    "killed after its last machine was deleted, is not started again and its directory goes: %s",
    async (way, next) => {
      const directory = `emptied ${way}`;
      const path = join(folder, directory);
      const { id } = await control(directory).createMachine({ name: "cp-1", cluster: "test" });
      const { pid } = await record(directory);
      process.kill(pid, "SIGKILL");
      for (const kind of ["machines", "clusters"])
        for (const file of await readdir(join(path, kind))) await rm(join(path, kind, file));
      await eventually(() => !lives(pid), "the killed daemon is gone");
      await next(directory);
      await eventually(() => !existsSync(path), "the directory is gone");
      expect(await control(directory).getMachine(id)).toBeUndefined();
      expect(existsSync(path)).toBe(false);
    },
  );

  it("is not taken for one of another directory that has its port now", async () => {
    const [ours, theirs] = [control("moved"), control("stranger")];
    const { id } = await ours.createMachine({ name: "cp-1", cluster: "test" });
    await theirs.createMachine({ name: "cp-1", cluster: "stranger" });
    const old = await record("moved");
    process.kill(old.pid, "SIGKILL");
    await eventually(() => !lives(old.pid), "the killed daemon is gone");
    const stranger = await record("stranger");
    const port = forward(old.port, stranger.port);
    try {
      expect(await ours.listMachines()).toMatchObject([{ id, cluster: "test" }]);
    } finally {
      port.close();
    }
  });

  it("does not touch machines of a format that it does not know, and says so", async () => {
    const strange = join(folder, "strange");
    await mkdir(join(strange, "machines"), { recursive: true });
    await writeFile(join(strange, "format.json"), "99");
    await writeFile(join(strange, "machines", "x.json"), "{}");
    await expect(control("strange").listMachines()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("holds simulated machines of format 99"),
    });
  });

  it("names the signal that ended it while it started", async () => {
    const program = join(folder, "killed.cjs");
    await writeFile(program, 'process.kill(process.pid, "SIGKILL");\n');
    await expect(control("killed", program).createMachine({ name: "cp-1", cluster: "test" })).rejects.toMatchObject({
      code: "unavailable",
      message: "the simulator's daemon did not start: ended by SIGKILL: it logged nothing",
    });
  });

  it("is not started by questions about machines that can't be there", async () => {
    const nothing = control("nothing");
    expect(await nothing.listMachines()).toEqual([]);
    expect(await nothing.getMachine("x")).toBeUndefined();
    await nothing.deleteMachine("x");
    expect(existsSync(join(folder, "nothing"))).toBe(false);
  });

  it("says why it can't make a machine", async () => {
    const broken = control("broken");
    await expect(broken.createMachine({ name: "Not A Name", cluster: "x" })).rejects.toMatchObject({
      code: "invalid-input",
    });
    await expect(broken.createMachine({ name: "a", cluster: "x", talosVersion: "banana" })).rejects.toMatchObject({
      code: "invalid-input",
    });
    await broken.shutdown();
  });
});
