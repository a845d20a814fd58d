// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createIso, createNoCloudIso, readIso } from "../../cloud-init/index.ts";

const files = {
  "meta-data": 'instance-id: "a"\nlocal-hostname: "a"\n',
  "network-config": "version: 2\nethernets: {}\n",
  "user-data": `${"machine: {}\n".repeat(400)}`,
};
const has = (command: string) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let folder: string;
let image: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-iso-"));
  image = join(folder, "seed.iso");
  writeFileSync(image, createNoCloudIso(files));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A reader of its own, after the standard: names and contents of the root of one of the two trees. */
function readTree(bytes: Uint8Array, tree: "rock-ridge" | "joliet"): Record<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const descriptor = (tree === "rock-ridge" ? 16 : 17) * 2048;
  const rootSector = view.getUint32(descriptor + 156 + 2, true);
  const found: Record<string, string> = {};
  let offset = rootSector * 2048;
  for (let length = bytes[offset] ?? 0; length > 0; offset += length, length = bytes[offset] ?? 0) {
    const [sector, size] = [view.getUint32(offset + 2, true), view.getUint32(offset + 10, true)];
    const folderFlag = ((bytes[offset + 25] ?? 0) & 2) === 2;
    if (folderFlag) continue;
    const nameLength = bytes[offset + 32] ?? 0;
    const identifier = Buffer.from(bytes.subarray(offset + 33, offset + 33 + nameLength));
    const record = Buffer.from(bytes.subarray(offset, offset + length)).toString("latin1");
    const name =
      tree === "joliet" ? Buffer.from(identifier).swap16().toString("utf16le") : /NM..{2}([a-z-]+)/s.exec(record)?.[1];
    found[name ?? "?"] = Buffer.from(bytes.subarray(sector * 2048, sector * 2048 + size)).toString("utf8");
  }
  return found;
}

describe("createNoCloudIso", () => {
  it("gives the same bytes for the same files, in whatever order they come", () => {
    const reversed = Object.fromEntries(Object.entries(files).reverse()) as typeof files;
    const hash = createHash("sha256").update(createNoCloudIso(reversed)).digest("hex");
    expect(hash).toBe(createHash("sha256").update(readFileSync(image)).digest("hex"));
    expect(hash).toBe("ab56df95175b17aca381cc08a5de2eed961bd38977eb773d5c2d528dd6d209a9");
  });

  it.each(["rock-ridge", "joliet"] as const)("holds the files under their names in the %s tree", (tree) => {
    expect(readTree(readFileSync(image), tree)).toEqual(files);
  });

  it("holds whatever the files say, empty ones included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 9000 }), fc.string(), (one, two) => {
        const seed = { "meta-data": one, "network-config": two };
        const bytes = createNoCloudIso(seed);
        expect(readTree(bytes, "joliet")).toEqual(seed);
        expect(readTree(bytes, "rock-ridge")).toEqual(seed);
        expect(bytes.length % 2048).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ["a name with a slash", [{ name: "a/b", content: new Uint8Array() }], /file name "a\/b"/],
    [
      "two names that differ in case only",
      ["a", "A"].map((name) => ({ name, content: new Uint8Array() })),
      /different names/,
    ],
    [
      "more files than fit",
      Array.from({ length: 40 }, (_, n) => ({ name: `f${n}`, content: new Uint8Array() })),
      /40 files/,
    ],
  ])("refuses %s", (_, list, message) => {
    expect(() => createIso("cidata", list)).toThrow(message);
  });

  it.runIf(has("blkid"))("has the label cidata for blkid", () => {
    expect(run("blkid", "-p", image)).toMatch(/LABEL="cidata".*TYPE="iso9660"/);
  });

  it.runIf(has("isoinfo"))("is read by isoinfo through Rock Ridge and Joliet", () => {
    expect(run("isoinfo", "-d", "-i", image)).toMatch(
      /Volume id: cidata[\s\S]*Joliet with UCS level 3 found[\s\S]*Rock Ridge signatures version 1 found/,
    );
    for (const extension of ["-R", "-J"])
      for (const [name, text] of Object.entries(files))
        expect(run("isoinfo", extension, "-x", `/${name}`, "-i", image), `${extension} ${name}`).toBe(text);
  });

  it.runIf(has("xorriso"))("is unpacked by xorriso", () => {
    const target = join(folder, "out");
    run("xorriso", "-osirrox", "on", "-indev", image, "-extract", "/", target);
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(target, name), "utf8")).toBe(text);
  });
});

describe("create-cloudinit-iso.sh", () => {
  const script = new URL("../../scripts/create-cloudinit-iso.sh", import.meta.url).pathname;

  function inputs(): string[] {
    return Object.entries(files).flatMap(([name, text]) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return [`--${name}`, path];
    });
  }

  it("writes the same image, readable by its owner only", () => {
    const output = join(folder, "out dir's.iso");
    run(script, ...inputs(), "--output", output);
    expect(readFileSync(output).equals(readFileSync(image))).toBe(true);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it("streams the image over ssh to a KVM host", () => {
    const ssh = join(folder, "bin", "ssh");
    run("mkdir", join(folder, "bin"));
    // Stands in for ssh: runs what it was asked to run, in a shell, as sshd does.
    writeFileSync(ssh, '#!/bin/sh\n[ "$1" = "--" ] && shift\necho "$1" > "$(dirname "$0")/host"\nexec sh -c "$2"\n', {
      mode: 0o755,
    });
    const output = join(folder, "it's remote.iso");
    execFileSync(script, [...inputs(), "--output", output, "--host", "root@kvm"], {
      env: { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env.PATH}` },
      stdio: "pipe",
    });
    expect(readFileSync(output).equals(readFileSync(image))).toBe(true);
    expect(readFileSync(join(folder, "bin", "host"), "utf8")).toBe("root@kvm\n");
  });

  it("leaves no file behind when an input is wrong", () => {
    const args = inputs();
    writeFileSync(join(folder, "network-config"), "version: 9\n");
    const output = join(folder, "bad.iso");
    expect(() => run(script, ...args, "--output", output)).toThrow(/found version 9/);
    expect(existsSync(output)).toBe(false);
    expect(existsSync(`${output}.part`)).toBe(false);
  });

  it("says what is missing", () => {
    expect(() => run(script, "--meta-data", image)).toThrow(/--output is missing/);
  });
});

describe("reading an image", () => {
  it("gives back what was put in, and says what is no image", () => {
    expect(Object.fromEntries(readIso(createNoCloudIso(files), "seed.iso"))).toEqual(files);
    expect(() => readIso(new Uint8Array(40_000), "seed.iso")).toThrow("seed.iso: not an ISO image");
    expect(() => readIso(createNoCloudIso(files).subarray(0, 26 * 2048), "cut.iso")).toThrow("cut.iso: not an ISO");
  });

  it("refuses a directory whose files together are larger than the image", () => {
    const names = Array.from({ length: 8 }, (_, index) => ({ name: `f${index}`, content: Buffer.alloc(10_000, 65) }));
    const bomb = Buffer.from(createIso("cidata", names));
    const directory = 25 * 2048;
    // The records after the two of the folder itself: each file now is the whole image.
    for (let at = directory + 68; bomb[at] !== 0; at += bomb[at] ?? 0) {
      bomb.writeUInt32LE(0, at + 2);
      bomb.writeUInt32LE(bomb.length, at + 10);
    }
    expect(() => readIso(bomb, "bomb.iso")).toThrow("bomb.iso: not an ISO image");
  });

  it.runIf(has("genisoimage"))("takes what genisoimage makes", () => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const other = join(folder, "other.iso");
    run(
      "genisoimage",
      "-quiet",
      "-J",
      "-r",
      "-V",
      "cidata",
      "-o",
      other,
      ...Object.keys(files).map((name) => join(folder, name)),
    );
    expect(Object.fromEntries(readIso(readFileSync(other), "other.iso"))).toEqual(files);
  });
});
