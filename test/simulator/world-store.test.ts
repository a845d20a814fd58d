// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepWorld, loadWorld } from "../../simulator/daemon/world-store.ts";
import type { Simulation } from "../../simulator/index.ts";

it("a write that fails is told when the others have ended, so that none of them lands after what follows", async () => {
  const directory = mkdtempSync(join(tmpdir(), "talosmith-world-"));
  let changed: () => void = () => {};
  const simulation = {
    world: { machines: { gone: {} }, clusters: {} } as object,
    subscribe: (listener: () => void) => {
      changed = listener;
      return () => {};
    },
  };
  try {
    const store = keepWorld(directory, simulation as unknown as Simulation, () => {});
    // The file of one machine is a folder and cannot be removed; that of the other takes longer to write.
    mkdirSync(join(directory, "machines", "gone.json", "x"), { recursive: true });
    simulation.world = { machines: { large: { text: "x".repeat(2 ** 26) } }, clusters: {} };
    changed();
    await expect(store.flush()).rejects.toThrow("gone.json");
    expect(existsSync(join(directory, "machines", "large.json"))).toBe(true);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it("a machine and its cluster change together, also when the daemon ends between the two writes", async () => {
  const directory = mkdtempSync(join(tmpdir(), "talosmith-world-"));
  const world = (state: string) => ({
    machines: { m: { id: "m", disk: {}, state } },
    clusters: { c: { key: "c", state } },
  });
  let changed: () => void = () => {};
  const simulation = {
    world: world("new") as object,
    subscribe: (listener: () => void) => {
      changed = listener;
      return () => {};
    },
  };
  try {
    const cluster = join(directory, "clusters", "c.json");
    for (const folder of ["machines", "clusters"]) mkdirSync(join(directory, folder));
    writeFileSync(join(directory, "machines", "m.json"), JSON.stringify(world("old").machines.m));
    simulation.world = world("old");
    const store = keepWorld(directory, simulation as unknown as Simulation, () => {});
    // Stands for the end of the daemon: the cluster's file is not written.
    mkdirSync(join(cluster, "x"), { recursive: true });
    simulation.world = world("new");
    changed();
    await expect(store.flush()).rejects.toThrow("c.json");
    rmSync(cluster, { recursive: true });
    writeFileSync(cluster, JSON.stringify(world("old").clusters.c));
    expect(await loadWorld(directory)).toEqual(world("new"));
    expect(existsSync(join(directory, "changes.json"))).toBe(false);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it.each(["format.json", "machines/m-1.json", "clusters/c-1.json"])("a damaged %s is named", async (file) => {
  const directory = mkdtempSync(join(tmpdir(), "talosmith-world-"));
  try {
    for (const folder of ["machines", "clusters"]) mkdirSync(join(directory, folder));
    writeFileSync(join(directory, file), "");
    await expect(loadWorld(directory)).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining(`${join(directory, file)} is damaged`),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
