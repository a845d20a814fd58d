// SPDX-License-Identifier: Apache-2.0
// The daemon on a disk that is full, or becomes so: it says which file could not be written, and forgets nothing.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { simulatorAt } from "../../simulator/control/index.ts";
import { mayMount, mountTinyDisk, unmountDisk } from "../support/tiny-disk.ts";

const possible = mayMount();
it.skipIf(!possible)("a disk can be filled", () => expect(possible).toBe(true));

describe.runIf(possible)("the simulator's daemon", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-daemon-disk-"));
  const disk = join(folder, "disk");
  const bundle = join(folder, "simulator-daemon.cjs");
  const simulator = simulatorAt(join(disk, "simulator"), { daemonCommand: [process.execPath, bundle] });
  const machine = (name: string) => ({ name, cluster: "test" });
  const makeRoom = () => rmSync(join(disk, "fill"), { force: true });
  /** Fills the disk but for so many bytes, in blocks of 4 kB as the disk has them. */
  const fill = (but = 0) => {
    makeRoom();
    try {
      for (;;) appendFileSync(join(disk, "fill"), Buffer.alloc(4096));
    } catch {
      const text = readFileSync(join(disk, "fill"));
      rmSync(join(disk, "fill"));
      writeFileSync(join(disk, "fill"), text.subarray(but));
    }
  };

  beforeAll(async () => {
    mountTinyDisk(disk);
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
    await simulator.shutdown();
    unmountDisk(disk);
    rmSync(folder, { recursive: true, force: true });
  });

  // The log, the lock and the format each want a block; what is left over decides which of them comes too late.
  it.each([0, 4096, 8192, 12_288])(
    "that cannot start with %i bytes left names the file and the reason",
    async (but) => {
      fill(but);
      await expect(simulator.createMachine(machine("cp-1"))).rejects.toMatchObject({
        message: expect.stringMatching(/simulator\/\S+: no space left on device/),
      });
    },
  );

  it("starts once there is room, whatever the attempts have left", async () => {
    makeRoom();
    expect(await simulator.createMachine(machine("cp-1"))).toMatchObject({ name: "cp-1" });
  });

  it("does not say that a machine is there which it could not write down", async () => {
    fill();
    await expect(simulator.createMachine(machine("cp-2"))).rejects.toMatchObject({
      message: expect.stringMatching(/simulator\/machines\/\S+: no space left on device/),
    });
    makeRoom();
    const made = await simulator.createMachine(machine("cp-2"));
    const files = readdirSync(join(disk, "simulator/machines"));
    expect(files).toContain(`${made.id}.json`);
    expect(files).toHaveLength(2);
  });

  it("forgets a machine that was taken away while nothing could be written", async () => {
    fill();
    await expect(simulator.createMachine(machine("cp-3"))).rejects.toThrow("no space left on device");
    const [third] = (await simulator.listMachines()).filter(({ name }) => name === "cp-3");
    makeRoom();
    await simulator.deleteMachine(third?.id ?? "");
    await simulator.shutdown();
    expect((await simulator.listMachines()).map(({ name }) => name).sort()).toEqual(["cp-1", "cp-2"]);
  });
});
