// SPDX-License-Identifier: Apache-2.0
// Every operation as a user types it, interrupted at each kind of step with real processes: the same command, run once
// more, completes it and leaves nothing behind. After every entry, in virtual time: test/engine/interruption.test.ts.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sourceHash } from "../../provider/packaging/bundle.ts";
import { everything } from "../support/everything.ts";
import { type Case, casesOf, chosen, firstCluster } from "../support/interruption-operations.ts";
import { InterruptionScene } from "../support/interruption-scene.ts";
import { findTools } from "../support/terraform.ts";

const [tool] = findTools();
test.skipIf(tool === undefined)("terraform or tofu is there", () => expect(tool).toBeDefined());

const seed = process.env.TALOSMITH_SEED ?? "1";
const only = new RegExp(process.env.TALOSMITH_TEST_INTERRUPTION ?? ".");

/** Cases that have passed with these sources: a run that was stopped goes on after them. */
const folder = resolve("test-artifacts/interruption");
const passedFile = resolve(folder, `${sourceHash(resolve("."), ["cli", "constructs", "watch", "workspace"])}.txt`);
const passed = new Set(existsSync(passedFile) ? readFileSync(passedFile, "utf8").split("\n") : []);

function note(file: string, line: string): void {
  mkdirSync(folder, { recursive: true });
  appendFileSync(resolve(folder, file), `${line}\n`);
}

/** For `npm test`, on two machines: one case of each, by the seed. Through terraform there is deploy-signals.test.ts. */
const everyday = ["first deploy", "Talos upgrade"];

function casesFor(path: Case["path"]): readonly Case[] {
  const all = casesOf(path, seed).filter(({ id }) => only.test(id));
  if (everything) return all;
  if (path === "terraform") return [];
  return everyday.flatMap((name) => {
    const fit = all.filter(({ operation }) => operation.name === name);
    return fit.length === 0 ? [] : [chosen(fit, [seed, name])];
  });
}

const start = everything ? firstCluster : { ...firstCluster, controlPlanes: 1, workers: 1 };
const suites = (["alone", "terraform"] as const).map((path) => ({ path, cases: casesFor(path) }));

describe.each(suites.filter(({ cases }) => cases.length > 0))("interrupted $path", { timeout: 900_000 }, (suite) => {
  const scene = new InterruptionScene(suite.path, tool?.path ?? "", start);
  const lacking = suite.path === "terraform" && tool === undefined;
  afterAll(() => scene.dispose(), 300_000);

  for (const one of suite.cases)
    test.skipIf(lacking || (everything && passed.has(one.id)))(one.id, async () => {
      try {
        const { first, rerun } = await scene.interrupt(one);
        if (!everything) return;
        note(passedFile, one.id);
        note("times.txt", `${first.toFixed(1)} s, rerun ${rerun.toFixed(1)} s: ${one.id}`);
      } catch (error) {
        note("failures.txt", `${one.id}\n${error}\n`);
        throw error;
      }
    });
});
