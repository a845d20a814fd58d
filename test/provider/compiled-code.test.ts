// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const work = mkdtempSync(join(tmpdir(), "talosmith-compiled-"));
const program = join(work, "program");
const stack = join(work, "stack");
const code = join(stack, ".terraform", "talosmith-code");

beforeAll(async () => {
  const contents = `import { keepCompiledCode } from "./provider/compiled-code.ts";
keepCompiledCode(process.argv[1], process.env);
process.stdout.write(require("./part.cjs").word());`;
  await build({
    stdin: { contents, resolveDir: root },
    outfile: join(program, "start.cjs"),
    external: ["./part.cjs"],
    bundle: true,
    platform: "node",
    logLevel: "silent",
  });
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

beforeEach(() => {
  rmSync(stack, { recursive: true, force: true });
  mkdirSync(join(stack, ".terraform"), { recursive: true });
  say("first");
});

/** All words have the same length: that is all that V8 looks at. */
function say(word: "first" | "other"): void {
  writeFileSync(join(program, "part.cjs"), `exports.word = () => "${word}";`);
}

function run(environment: Record<string, string> = {}, start = join(program, "start.cjs")): string {
  const { NODE_DISABLE_COMPILE_CACHE: _, TF_DATA_DIR: __, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, [start], { cwd: stack, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

function kept(folder = code): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const written = () => kept().map((file) => [file, statSync(file).mtimeMs, statSync(file).ino]);

describe("compiled code", () => {
  test("is kept where the owner alone may write, and used by the next start", () => {
    expect(run()).toBe("first");
    const before = written();
    expect(before.length).toBeGreaterThan(0);
    expect(statSync(code).mode & 0o022).toBe(0);
    expect(run()).toBe("first");
    expect(written()).toEqual(before);
  });

  test("is kept when Terraform starts us through a link", () => {
    symlinkSync(program, join(stack, "linked"));
    expect(run({}, join(stack, "linked", "start.cjs"))).toBe("first");
    expect(kept().length).toBeGreaterThan(0);
  });

  test("of another source is not used, even of the same length", () => {
    run();
    say("other");
    expect(run()).toBe("other");
    expect(run()).toBe("other");
  });

  test.each([
    ["empty", () => ""],
    ["cut off", (content: Buffer) => content.subarray(0, content.length - 40)],
    ["something else", () => "something else"],
    ["damaged in the middle", (content: Buffer) => content.fill(0xff, content.length / 2, content.length / 2 + 8)],
  ])("that is %s is made anew", (_, spoil) => {
    run();
    for (const file of kept()) writeFileSync(file, spoil(readFileSync(file)));
    const spoilt = kept().map((file) => readFileSync(file));
    expect(run()).toBe("first");
    expect(kept().map((file) => readFileSync(file))).not.toEqual(spoilt);
    const before = written();
    expect(run()).toBe("first");
    expect(written()).toEqual(before);
  });

  test("follows Terraform's data directory", () => {
    mkdirSync(join(stack, "data"));
    run({ TF_DATA_DIR: "data" });
    expect(kept(join(stack, "data", "talosmith-code")).length).toBeGreaterThan(0);
    expect(readdirSync(join(stack, ".terraform"))).toEqual([]);
  });

  test.each([
    ["without a data directory", () => rmSync(join(stack, ".terraform"), { recursive: true }), {}],
    ["when Node is told to", () => undefined, { NODE_DISABLE_COMPILE_CACHE: "1" }],
  ])("is not kept %s", (_, prepare, environment) => {
    prepare();
    expect(run(environment)).toBe("first");
    expect(readdirSync(stack, { recursive: true }).filter((name) => String(name).includes("talosmith-code"))).toEqual(
      [],
    );
  });

  // Node 22 and later keep it themselves, under names of their own.
  test.skipIf("enableCompileCache" in nodeModule)("of an older provider goes when there is a newer one", () => {
    run();
    writeFileSync(join(code, "chunk-of-the-last-version.cjs"), "");
    say("other");
    run();
    expect(readdirSync(code)).toEqual(["part.cjs"]);
  });

  test("is not missed where a file is in its way", () => {
    writeFileSync(code, "");
    expect(run()).toBe("first");
  });
});
