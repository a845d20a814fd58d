// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { mutationRow } from "../../scripts/mutation-table.ts";
import { mutationTargets } from "../../scripts/mutation-targets.ts";

describe("mutation testing", () => {
  test.each(mutationTargets)("$name names files that are there", ({ sources, tests }) => {
    expect(sources.length).toBeGreaterThan(0);
    expect(tests.length).toBeGreaterThan(0);
    expect([...sources, ...tests].filter((file) => !existsSync(file))).toEqual([]);
  });

  test("counts a hang as noticed, an unreached change as survived, and what could not run as neither", () => {
    const mutants = (...statuses: readonly string[]) => ({ mutants: statuses.map((status) => ({ status })) });
    const files = { "a.ts": mutants("Killed", "Timeout", "Survived"), "b.ts": mutants("NoCoverage", "RuntimeError") };
    expect(mutationRow("some", { files })).toBe("| some | 4 | 2 | 2 | 50.0 % |");
    expect(mutationRow("some", { files: {} })).toBe("| some | 0 | 0 | 0 | none |");
  });

  test("of an unknown target says which there are", () => {
    const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "scripts/mutate.ts", "nothing"], {
      encoding: "utf8",
    });
    expect(stderr).toBe(`nothing: no such target; there are ${mutationTargets.map(({ name }) => name).join(", ")}\n`);
    expect(status).toBe(2);
  });
});
