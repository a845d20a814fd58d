// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FunctionError, Server } from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";
import { findProjectRoot } from "../../../provider/types/provider.ts";
import { translateError } from "../../../provider/types/translate-error.ts";
import { TalosError } from "../../../talos/errors.ts";

const work = mkdtempSync(join(tmpdir(), "talosmith-parts-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe("the project's root", () => {
  test("is named, or has a cdktf.json, or is the working directory", () => {
    const stack = join(work, "cdktf.out", "stacks", "local");
    mkdirSync(stack, { recursive: true });
    expect(findProjectRoot(stack, {})).toBe(stack);
    writeFileSync(join(work, "cdktf.json"), "{}");
    expect(findProjectRoot(stack, {})).toBe(work);
    expect(findProjectRoot(stack, { TALOSMITH_ROOT: ".." })).toBe(join(stack, ".."));
  });
});

describe("an error of the talos folders", () => {
  test("keeps its machine and its advice", () => {
    const error = new TalosError("unavailable", "connection refused", { node: "cp-1", hint: "Check the firewall." });
    expect(translateError(error)).toEqual({
      summary: "Not reachable",
      detail: "cp-1: connection refused\n\nCheck the firewall.",
    });
    expect(translateError(new Error("other"))).toBeUndefined();
  });
});

describe("the functions", () => {
  const server = new Server(
    talosmithProvider({ workingDirectory: work, environment: {}, daemonCommand: ["node"] }),
    () => undefined,
  );

  test.each<[string, (string | number)[], string]>([
    ["node_address", ["10.0.0.0/24", 70, 0], "10.0.0.70"],
    ["node_address", ["10.0.0.0/24", 80, 3], "10.0.0.83"],
    ["node_mac", ["controlplane", 0], "52:54:00:c1:00:01"],
    ["node_mac", ["worker", 255], "52:54:00:c2:01:00"],
  ])("%s(%j) is %s", async (name, values, result) => {
    expect(await server.function(name).call(values)).toBe(result);
  });

  test.each<[string, (string | number)[], number]>([
    ["node_address", ["10.0.0.1/24", 70, 0], 0],
    ["node_address", ["10.0.0.0/24", 1.5, 0], 1],
    ["node_address", ["10.0.0.0/24", 250, 5], 2],
    ["node_address", ["10.0.0.0/24", 70, -1], 2],
    ["node_mac", ["boss", 0], 0],
    ["node_mac", ["worker", 65535], 1],
    ["patch", ["machine: {type: worker}", "machine: {", ""], 1],
    ["patch", ["machine: [", "machine: {}"], 0],
  ])("%s(%j) blames argument %d", async (name, values, argument) => {
    const call = async () => server.function(name).call(values);
    const error = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(FunctionError);
    expect((error as FunctionError).argument).toBe(argument);
  });
});
