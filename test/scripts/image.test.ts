// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { digestOf, type ImageOptions, writeImage } from "../../scripts/image/layout.ts";
import { entriesOf, tarOf } from "../../scripts/image/tar.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linux = (architecture: string) => ({ os: "linux", architecture });
const files = tarOf([{ path: "opt/app/main.js", content: Buffer.from("main\n"), mode: 0o644 }]);
const options = (name: string, more: Partial<ImageOptions> = {}): ImageOptions => ({
  folder: join(folder, name),
  version: "1.0.0",
  platforms: [linux("amd64"), linux("arm64")],
  layers: () => [files],
  sbom: Buffer.from("{}"),
  config: { User: "1000:1000", Env: ["HOME=/tmp"] },
  ...more,
});

interface Manifest {
  readonly digest: string;
  readonly artifactType?: string;
  readonly platform?: { readonly architecture: string };
}

const blob = (name: string, digest: string) => readFileSync(join(folder, name, "blobs", ...digest.split(":")));
const read = (name: string, digest: string) => JSON.parse(blob(name, digest).toString());

describe("a layer", () => {
  test("is unpacked by tar, with long names, modes and owners", () => {
    const long = `opt/${"long/".repeat(40)}name.txt`;
    const archive = join(folder, "layer.tar");
    const program = { path: "usr/bin/program", content: Buffer.alloc(700, "x"), mode: 0o755 };
    const entries = [
      { path: long, content: Buffer.from("long\n"), mode: 0o644 },
      program,
      { path: "data", mode: 0o755, owner: 1000 },
    ];
    writeFileSync(archive, tarOf(entries));
    const listed = execFileSync("tar", ["--list", "--verbose", "--numeric-owner", "--file", archive]).toString();
    expect(listed).toMatch(/^drwxr-xr-x 1000\/1000 .* data\/$/m);
    expect(listed).toMatch(/^-rwxr-xr-x 0\/0 +700 .* usr\/bin\/program$/m);
    expect(execFileSync("tar", ["--extract", "--to-stdout", "--file", archive, long]).toString()).toBe("long\n");
  });

  test("has the files of a folder in the same order every time, and no links", () => {
    const from = join(folder, "from");
    mkdirSync(join(from, "b"), { recursive: true });
    for (const name of ["b/2", "b/1", "a"]) writeFileSync(join(from, name), name);
    const entries = entriesOf(from, "app");
    expect(entries.map(({ path }) => path)).toEqual(["app", "app/a", "app/b", "app/b/1", "app/b/2"]);
    expect(tarOf(entries).equals(tarOf([...entries].reverse()))).toBe(true);
  });
});

describe("an image", () => {
  test("is for each platform, runs without rights, and names its bill of materials", () => {
    const digest = writeImage(options("plain"));
    expect(digest).toBe(writeImage(options("plain")));
    const { manifests } = read("plain", digest) as { manifests: readonly Manifest[] };
    expect(manifests.map(({ platform }) => platform?.architecture)).toEqual(["amd64", "arm64", undefined, undefined]);
    const [first, , bill] = manifests;
    const manifest = read("plain", first?.digest ?? "");
    const config = read("plain", manifest.config.digest);
    expect(config).toMatchObject({ architecture: "amd64", os: "linux", config: { User: "1000:1000" } });
    const layers = manifest.layers.map((layer: { digest: string }) =>
      digestOf(gunzipSync(blob("plain", layer.digest))),
    );
    expect(layers).toEqual(config.rootfs.diff_ids);
    expect(read("plain", bill?.digest ?? "").subject.digest).toBe(first?.digest);
  });

  test("lies over its base, whose digest is checked", () => {
    const base = writeImage(options("base", { config: { Env: ["PATH=/usr/bin"] } }));
    const digest = writeImage(options("over", { base: { folder: join(folder, "base"), digest: base } }));
    const { manifests } = read("over", digest) as { manifests: readonly Manifest[] };
    const manifest = read("over", manifests[0]?.digest ?? "");
    expect(manifest.layers).toHaveLength(2);
    expect(manifest.annotations["org.opencontainers.image.base.digest"]).toBe(base);
    expect(read("over", manifest.config.digest).config.Env).toEqual(["PATH=/usr/bin", "HOME=/tmp"]);
    const [layer] = manifest.layers as readonly { digest: string }[];
    writeFileSync(join(folder, "base", "blobs", ...(layer?.digest ?? "").split(":")), "other");
    const again = options("again", { base: { folder: join(folder, "base"), digest: base } });
    expect(() => writeImage(again)).toThrow("has other content than its digest says");
  });

  test("wants a base for every platform", () => {
    const base = writeImage(options("one", { platforms: [linux("amd64")] }));
    const two = options("two", { base: { folder: join(folder, "one"), digest: base } });
    expect(() => writeImage(two)).toThrow("nothing for linux/arm64");
  });
});
