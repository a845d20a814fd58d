// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Asset {
  readonly type: string;
  readonly content: string;
}

/** By path. */
export type Assets = ReadonlyMap<string, Asset>;

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "client");

/** The page from its sources: bundled on the spot, in a few milliseconds. */
export async function assetsFromSource(): Promise<Assets> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(folder, "main.ts")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const script = outputFiles[0]?.text ?? "";
  const file = async (name: string, type: string) => ({ type, content: await readFile(join(folder, name), "utf8") });
  return new Map([
    ["/", await file("index.html", "text/html; charset=utf-8")],
    ["/main.js", { type: "text/javascript; charset=utf-8", content: script }],
    ["/style.css", await file("style.css", "text/css; charset=utf-8")],
    ["/icon.svg", await file("icon.svg", "image/svg+xml")],
  ]);
}
