// SPDX-License-Identifier: Apache-2.0
import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startFile } from "../../../provider/packaging/bundle.ts";
import { directoryHash, executableHash, installExecutable, installUnder } from "../../../provider/packaging/install.ts";

let plugins: string;
beforeEach(() => {
  plugins = mkdtempSync(join(tmpdir(), "talosmith-plugins-"));
});
afterEach(() => rmSync(plugins, { recursive: true, force: true }));

const identity = { source: "talosmith.internal/talosmith/talosmith", version: "1.0.0" };
const files = (content: string) => new Map([[startFile, Buffer.from(content)]]);

test("several runs at once install the same provider, and nothing is left of those that came late", async () => {
  await installUnder(plugins, files("old"), identity);
  for (let round = 0; round < 20; round++) {
    const content = `new ${round}`;
    await Promise.all(Array.from({ length: 4 }, () => installUnder(plugins, files(content), identity)));
    expect(readFileSync(join(plugins, identity.source, "1.0.0/linux_amd64", startFile), "utf8")).toBe(content);
  }
  expect(readdirSync(join(plugins, identity.source))).toEqual(["1.0.0"]);
});

test.skipIf(process.platform === "win32")(
  "an executable is linked as the provider, and linked again only when it is another one",
  async () => {
    const [older, newer] = ["older", "newer"].map((name) => {
      const path = join(realpathSync(plugins), name);
      writeFileSync(path, name, { mode: 0o755 });
      return path;
    }) as [string, string];
    const folder = join(plugins, "of-terraform");
    const install = async (path: string) => {
      await installExecutable(folder, path, identity);
      const version = join(folder, identity.source, identity.version);
      const [platform = "", ...others] = readdirSync(version);
      expect(others).toEqual([]);
      const [file = ""] = readdirSync(join(version, platform));
      const installed = join(version, platform, file);
      expect(file).toBe("terraform-provider-talosmith_v1.0.0");
      expect(await executableHash(installed, "1.0.0")).toBe(directoryHash(new Map([[file, readFileSync(path)]])));
      return { target: realpathSync(installed), made: lstatSync(installed).ino };
    };
    const first = await install(older);
    expect(first.target).toBe(older);
    expect(await install(older)).toEqual(first);
    expect((await install(newer)).target).toBe(newer);
  },
);
