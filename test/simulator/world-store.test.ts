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
