// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownFile } from "../../talos/own-files.ts";

interface Asset {
  readonly type: string;
  readonly content: string;
}

/** By path. */
export type Assets = ReadonlyMap<string, Asset>;

const here = dirname(fileURLToPath(import.meta.url));
const files = [
  ["/", "index.html", "text/html; charset=utf-8"],
  ["/main.js", "main.js", "text/javascript; charset=utf-8"],
  ["/style.css", "style.css", "text/css; charset=utf-8"],
  ["/icon.svg", "icon.svg", "image/svg+xml"],
] as const;

/** The page: of a published package as it was built, of a checkout from its sources. */
export function loadAssets(): Promise<Assets> {
  if (import.meta.url.endsWith(".ts")) return assetsFromSource();
  return assets(async (name) => ownFile(`dist/web/${name}`));
}

/** The page from its sources: bundled on the spot, in a few milliseconds. */
export async function assetsFromSource(): Promise<Assets> {
  const folder = join(here, "..", "client");
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(folder, "main.ts"), join(folder, "style.css")],
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const bundled = new Map(outputFiles.map(({ path, text }) => [path, text]));
  return assets(async (name) => bundled.get(join(folder, name)) ?? readFile(join(folder, name), "utf8"));
}

async function assets(read: (name: string) => Promise<string>): Promise<Assets> {
  const entries = files.map(async ([path, name, type]) => [path, { type, content: await read(name) }] as const);
  return new Map(await Promise.all(entries));
}
