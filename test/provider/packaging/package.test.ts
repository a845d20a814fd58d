// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { buildProvider, installProvider, packageProvider, providerSource } from "../../../provider/package.ts";
import { readBundle } from "../../../provider/packaging/bundle.ts";
import { directoryHash } from "../../../provider/packaging/install.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const work = mkdtempSync(join(tmpdir(), "talosmith-package-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe("the packaged provider", () => {
  test("has the same bytes from another checkout, and no name of either", async () => {
    const elsewhere = join(work, "else where");
    for (const name of [
      "provider",
      "talos",
      "model",
      "engine",
      "cloud-init",
      "simulator",
      "package.json",
      "package-lock.json",
      "tsconfig.json",
    ])
      cpSync(join(root, name), join(elsewhere, name), { recursive: true });
    const tools =
      /node_modules\/(\.|@?(biomejs|esbuild|rolldown|types|typescript|vite|vitest|tsx|fast-check|lightningcss|cdktn|constructs|uglify))/;
    cpSync(join(root, "node_modules"), join(elsewhere, "node_modules"), {
      recursive: true,
      filter: (name) => !tools.test(name.slice(root.length)),
    });
    await buildProvider(realpathSync(elsewhere), join(work, "second"));
    await buildProvider(root, join(work, "first"));
    const [first, second] = [await readBundle(join(work, "first")), await readBundle(join(work, "second"))];
    expect([...first.keys()]).toEqual(
      expect.arrayContaining(["simulator-daemon.cjs", "terraform-provider-talosmith.cjs"]),
    );
    expect([...second.keys()]).toEqual([...first.keys()]);
    for (const [name, content] of first) {
      expect(content.equals(second.get(name) ?? Buffer.alloc(0)), name).toBe(true);
      expect(content.includes(root), name).toBe(false);
    }
  });

  test("starts small: the engine is in files of its own", async () => {
    const size = (name: string) => statSync(join(work, "first", name)).size;
    expect(size("terraform-provider-talosmith.cjs")).toBeLessThan(20_000);
    expect(size("provider.cjs")).toBeLessThan(345_000);
    const lazy = [...(await readBundle(join(work, "first")))].filter(([name]) => name.endsWith(".cjs"));
    expect(lazy.reduce((sum, [, content]) => sum + content.length, 0)).toBeGreaterThan(5 * size("provider.cjs"));
  });

  test("says what it needs where Node is missing or too old", () => {
    const old = join(work, "old.cjs");
    writeFileSync(
      old,
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.18.3" } });`,
    );
    const start = (env: NodeJS.ProcessEnv) => {
      const { stdout, status } = spawnSync(join(work, "first", "terraform-provider-talosmith.cjs"), {
        env: { PATH: process.env.PATH, ...env },
        encoding: "utf8",
      });
      return `${status} ${stdout}`;
    };
    expect(start({ PATH: work })).toMatch(/^1 talosmith needs Node\.js 20\.19 or later on the PATH, or its executable/);
    expect(start({ NODE_OPTIONS: `--require ${old}` })).toMatch(/^1 talosmith needs Node\.js 20\.19 or later: .+ is v/);
  });

  test("is built once and installed for every platform, with its hash in the lock file", async () => {
    const stack = join(work, "stack");
    const installed = await installProvider(stack);
    expect((await packageProvider()).hash).toBe(installed.hash);
    const plugins = join(stack, "terraform.d", "plugins", ...providerSource.split("/"), installed.version);
    expect(readdirSync(plugins).sort()).toEqual(["darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"]);
    for (const platform of readdirSync(plugins)) {
      expect(directoryHash(await readBundle(join(plugins, platform)))).toBe(installed.hash);
      expect(statSync(join(plugins, platform, "terraform-provider-talosmith.cjs")).mode & 0o111).toBe(0o111);
    }
    expect(readFileSync(join(stack, ".terraform.lock.hcl"), "utf8")).toContain(installed.hash);
  });

  test("is repaired where a file of it was changed, and left alone where none was", async () => {
    const stack = join(work, "stack");
    const { version } = await installProvider(stack);
    const directory = join(stack, "terraform.d", "plugins", ...providerSource.split("/"), version, "linux_amd64");
    const before = statSync(directory).ino;
    await installProvider(stack);
    expect(statSync(directory).ino).toBe(before);
    writeFileSync(join(directory, "talos-cluster.cjs"), "changed");
    const { hash } = await installProvider(stack);
    expect(directoryHash(await readBundle(directory))).toBe(hash);
  });
});
