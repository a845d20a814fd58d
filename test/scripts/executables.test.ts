// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signAdHoc } from "../../scripts/executables/mach-o-signature.ts";
import { everything } from "../support/everything.ts";
import { findProgram } from "../support/programs.ts";

const work = mkdtempSync(join(tmpdir(), "talosmith-executables-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** The smallest that has what a signature needs: two segments, room for another command, and some bytes. */
function machO(length: number): Buffer {
  const file = Buffer.alloc(length, 7).fill(0, 0, 1024);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(2, 16);
  file.writeUInt32LE(144, 20);
  for (const [index, name] of ["__TEXT", "__LINKEDIT"].entries()) {
    const at = 32 + index * 72;
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(72, at + 4);
    file.write(name, at + 8, "latin1");
    const [offset, size] = index === 0 ? [0, 4096] : [4096, length - 4096];
    file.writeBigUInt64LE(BigInt(size), at + 32);
    file.writeBigUInt64LE(BigInt(offset), at + 40);
    file.writeBigUInt64LE(BigInt(size), at + 48);
  }
  return file;
}

describe("an ad-hoc signature", () => {
  test.each([5000, 8192, 12_345])(
    "of a file of %i bytes has the hash of each page, and ends the last segment",
    (length) => {
      const signed = signAdHoc(machO(length), "talosmith");
      const command = 32 + 144;
      expect([signed.readUInt32LE(16), signed.readUInt32LE(20)]).toEqual([3, 160]);
      const [start, size] = [signed.readUInt32LE(command + 8), signed.readUInt32LE(command + 12)];
      expect(start % 16).toBe(0);
      expect(start + size).toBe(signed.length);
      expect(signed.readBigUInt64LE(32 + 72 + 48)).toBe(BigInt(signed.length - 4096));
      const directory = signed.subarray(start + signed.readUInt32BE(start + 16));
      const pages = Array.from({ length: Math.ceil(start / 4096) }, (_, page) =>
        createHash("sha256")
          .update(signed.subarray(page * 4096, Math.min(start, (page + 1) * 4096)))
          .digest("hex"),
      );
      const hashes = directory.readUInt32BE(16);
      expect(pages).toEqual(
        pages.map((_, page) => directory.toString("hex", hashes + page * 32, hashes + page * 32 + 32)),
      );
      expect(signAdHoc(signed, "talosmith").equals(signed)).toBe(true);
    },
  );

  test("is refused to what is no executable of macOS, or has no room for it", () => {
    expect(() => signAdHoc(Buffer.alloc(100), "x")).toThrow("not a 64-bit Mach-O executable");
    expect(() => signAdHoc(machO(5000).fill(1, 176, 192), "x")).toThrow("no room");
  });

  test.skipIf(!everything || findProgram("go") === undefined)("is the one that Go's linker makes", () => {
    writeFileSync(join(work, "main.go"), "package main\n\nfunc main() {}\n");
    writeFileSync(join(work, "go.mod"), "module sample\n\ngo 1.21\n");
    const env = { ...process.env, CGO_ENABLED: "0", GOOS: "darwin", GOARCH: "arm64" };
    execFileSync("go", ["build", "-trimpath", "-o", "sample", "."], { cwd: work, env });
    const made = readFileSync(join(work, "sample"));
    expect(signAdHoc(made, "a.out").equals(made)).toBe(true);
  });
});

/** Needs the npm registry, for Node. */
const missing = !everything || ["llvm-strip", "terraform"].some((name) => findProgram(name) === undefined);
const platform = `${process.platform}_${process.arch === "x64" ? "amd64" : process.arch}`;

describe.skipIf(missing)("one file, on a machine without Node,", () => {
  const provider = "terraform-provider-talosmith_v0.1.0";
  const made = (name: string) => resolve("dist/executables", platform, name);
  const bin = join(work, "bin");
  const run = (folder: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    execFileSync(join(bin, program), args, { cwd: folder, env: { PATH: bin, HOME: work, ...env }, encoding: "utf8" });

  const build = () => {
    execFileSync(process.execPath, ["--import", "tsx", "scripts/build-executables.ts", platform], { stdio: "ignore" });
    return [provider, "talosmith"].map((name) =>
      createHash("sha256")
        .update(readFileSync(made(name)))
        .digest("hex"),
    );
  };
  let first: readonly string[] = [];
  beforeAll(() => {
    first = build();
    mkdirSync(bin);
    symlinkSync(findProgram("terraform") ?? "", join(bin, "terraform"));
    cpSync(made("talosmith"), join(bin, "talosmith"));
  });

  test("is the same each time", () => expect(build()).toEqual(first));

  test("the provider brings up the local stack", () => {
    const project = join(work, "project");
    const mirror = join(work, "mirror/talosmith.internal/talosmith/talosmith/0.1.0", platform);
    mkdirSync(mirror, { recursive: true });
    cpSync(made(provider), join(mirror, provider));
    cpSync("terraform/local", project, { recursive: true });
    const settings = join(work, "settings.tfrc");
    writeFileSync(
      settings,
      `provider_installation {\n  filesystem_mirror {\n    path = "${join(work, "mirror")}"\n  }\n}\n`,
    );
    const terraform = (...args: string[]) =>
      run(project, "terraform", [...args, "-no-color"], { TF_CLI_CONFIG_FILE: settings });
    terraform("init");
    try {
      expect(terraform("apply", "-auto-approve")).toContain("12 added");
      expect(terraform("plan")).toContain("No changes");
    } finally {
      terraform("destroy", "-auto-approve");
    }
  });

  test.each(["", " --without-terraform"])("the command makes a project and deploys it with deploy --yes%s", (flags) => {
    const project = mkdtempSync(join(work, "demo-"));
    const talosmith = (line: string) => run(project, "talosmith", line.split(" "));
    expect(talosmith("--version")).toBe("0.1.0\n");
    talosmith("init demo --kind simulated --control-planes 1 --workers 1");
    expect(readdirSync(project).sort()).toEqual([".gitignore", "cdktf.json", "environments"]);
    try {
      expect(talosmith(`deploy demo --yes${flags}`)).toContain("demo is up");
      talosmith("plan demo");
    } finally {
      talosmith("destroy demo --yes");
    }
  });
});
