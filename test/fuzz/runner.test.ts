// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { TalosError } from "../../talos/errors.ts";
import { Random } from "./random.ts";
import { fuzz, limits, pace } from "./runner.ts";
import type { Target } from "./target.ts";
import { targets } from "./targets/index.ts";

describe("the runner", () => {
  const target = (run: () => void | Promise<void>): Target => ({
    name: "sample",
    about: "",
    make: () => ({ show: () => "the input", run, smaller: () => [] }),
  });
  const firstFault = async (run: () => void | Promise<void>) =>
    (await fuzz(target(run), { inputs: 1, seed: 1 })).faults[0];

  test.each<[string, () => void | Promise<void>, string]>([
    ["an error that is not ours", () => void (undefined as unknown as string).length, "TypeError"],
    ["a fault of our own", () => Promise.reject(new TalosError("internal", "oops")), "oops"],
    ["an error without a message", () => Promise.reject(new TalosError("invalid-input", " ")), "TalosError"],
    ["a changed prototype", () => void Object.assign(Object.prototype, { polluted: 1 }), "prototype"],
    [
      "a slow input",
      () => {
        const end = process.cpuUsage().user + limits.milliseconds * 2000 * pace();
        let sum = 0;
        while (process.cpuUsage().user < end) for (let step = 0; step < 1e6; step += 1) sum += step;
        kept.push(sum);
      },
      "ms of processor time",
    ],
    ["a greedy input", () => void kept.push(Buffer.alloc(80 * 1024 ** 2)), "MB of heap"],
  ])("notices %s, and says how to make it again", async (_, run, what) => {
    const fault = await firstFault(run);
    kept.length = 0;
    expect(fault?.what).toContain(what);
    expect(fault).toMatchObject({
      input: "the input",
      replay: expect.stringContaining("--target sample --seed 1 --first 0"),
    });
  });
  const kept: unknown[] = [];

  test("takes a refusal in our own words for an answer", async () => {
    const refuse = () => {
      throw new TalosError("invalid-input", "found nothing, expected something");
    };
    expect(await fuzz(target(refuse), { inputs: 3, seed: 1 })).toMatchObject({ inputs: 3, accepted: 0, faults: [] });
  });
});

test.each(targets)("an input of $name is the same alone as after a thousand others", ({ make }) => {
  const shown = (index: number) => make(new Random(7, index)).show();
  const places = Array.from({ length: 50 }, (_, step) => step * 20);
  const alone = places.map(shown);
  for (let index = 0; index < 1000; index += 1) make(new Random(8, index));
  expect(places.map(shown)).toEqual(alone);
});
