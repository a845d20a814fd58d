// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { codeFiles } from "../../simulator/control/daemon-process.ts";

it("every source file of the daemon counts for telling old code from new", async () => {
  const entry = resolve("simulator/daemon.ts");
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  const counted = new Set(await codeFiles(entry));
  expect(Object.keys(metafile.inputs).filter((file) => !counted.has(resolve(file)))).toEqual([]);
});
