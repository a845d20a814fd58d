// SPDX-License-Identifier: Apache-2.0
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, readFile, readlink, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { readBundle, startFile } from "./bundle.ts";

export interface ProviderIdentity {
  /** `host/namespace/type`. */
  readonly source: string;
  readonly version: string;
}

/** The content is the same everywhere, so one directory is real and the others point to it. */
export const platforms = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"] as const;

/**
 * Puts a made provider where `init` looks first, under a directory of plugins (`terraform.d/plugins` beside a stack,
 * or the user's own). Whoever reads meanwhile finds a whole one, old or new, or for a moment none.
 */
export async function installUnder(
  plugins: string,
  files: ReadonlyMap<string, Buffer>,
  { source, version }: ProviderIdentity,
): Promise<void> {
  const target = join(plugins, ...source.split("/"), version);
  if (await isInstalled(target, files)) return;
  const [first, ...others] = platforms;
  await writeAnew(target, async (fresh) => {
    await mkdir(join(fresh, first), { recursive: true });
    for (const [name, content] of files) await writeFile(join(fresh, first, name), content);
    await chmod(join(fresh, first, startFile), 0o755);
    for (const platform of others) await symlink(first, join(fresh, platform));
  });
}

/**
 * The same for an executable that is command and provider: under a provider's name it is the provider. A link, for it has a
 * hundred megabytes; a copy on Windows, where links need a privilege.
 */
export async function installExecutable(
  plugins: string,
  executable: string,
  { source, version }: ProviderIdentity,
): Promise<void> {
  const target = join(plugins, ...source.split("/"), version);
  const file = join(platformOf(process.platform, process.arch), executableName(version));
  const place = join(target, file);
  if ((await realpath(place).catch(unless("ENOENT"))) === executable) return;
  await writeAnew(target, async (fresh) => {
    await mkdir(dirname(join(fresh, file)), { recursive: true });
    if (process.platform === "win32") await copyFile(executable, join(fresh, file));
    else await symlink(executable, join(fresh, file));
  });
}

/** As terraform names the platform of a process. */
function platformOf(system: NodeJS.Platform, processor: string): string {
  return `${system === "win32" ? "windows" : system}_${processor === "x64" ? "amd64" : processor}`;
}

function executableName(version: string): string {
  return `terraform-provider-talosmith_v${version}${process.platform === "win32" ? ".exe" : ""}`;
}

/** The `h1:` hash of an executable as a provider of this version. */
export async function executableHash(executable: string, version: string): Promise<string> {
  const content = createHash("sha256");
  for await (const part of createReadStream(executable)) content.update(part);
  return hashOf([[executableName(version), content.digest("hex")]]);
}

async function writeAnew(target: string, write: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${target}.${randomBytes(6).toString("hex")}.new`;
  try {
    await write(fresh);
    await replaceFolder(target, fresh);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Another run may put its own there at the same time; then ours takes the place of that. */
async function replaceFolder(target: string, fresh: string): Promise<void> {
  const aside = `${fresh}.old`;
  for (let attempt = 1; ; attempt++) {
    await rename(target, aside).catch(unless("ENOENT"));
    await rm(aside, { recursive: true, force: true });
    try {
      await rename(fresh, target);
      return;
    } catch (error) {
      if (attempt === 10) throw error;
      unless("ENOTEMPTY", "EEXIST")(error as NodeJS.ErrnoException);
    }
  }
}

const unless =
  (...codes: readonly string[]) =>
  (error: NodeJS.ErrnoException): void => {
    if (!codes.includes(error.code ?? "")) throw error;
  };

/** Only the first platform's files are read: the others have to point to them. */
async function isInstalled(target: string, files: ReadonlyMap<string, Buffer>): Promise<boolean> {
  const [first, ...others] = platforms;
  try {
    for (const platform of others) if ((await readlink(join(target, platform))) !== first) return false;
    const found = await readBundle(join(target, first));
    return found.size === files.size && [...files].every(([name, content]) => found.get(name)?.equals(content));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EINVAL: a directory where a link should be.
    if (code === "ENOENT" || code === "EINVAL") return false;
    throw error;
  }
}

/** Writes or corrects our entry in a stack's lock file, so that `init` accepts what we installed. */
export async function lockProvider(stack: string, hash: string, identity: ProviderIdentity): Promise<void> {
  const file = join(stack, ".terraform.lock.hcl");
  const existing = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const merged = mergeLockFile(existing, { ...identity, hash });
  if (merged === existing) return;
  await writeFileAtomically(file, merged, { mode: 0o644 });
}

export interface LockEntry {
  readonly source: string;
  readonly version: string;
  readonly hash: string;
}

const heading = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.
`;

/**
 * The text of a `.terraform.lock.hcl` with our entry in it. The entries of other providers stay as they are; ours is
 * always rewritten, because our version may hold new content.
 */
export function mergeLockFile(existing: string, entry: LockEntry): string {
  const blocks = new Map<string, string>();
  const lines = existing.replaceAll("\r\n", "\n");
  for (const [block, source] of lines.matchAll(/^provider "([^"]+)" \{\n[\s\S]*?^\}\n?/gm)) {
    if (source !== undefined) blocks.set(source, block.trimEnd());
  }
  blocks.set(entry.source, render(entry));
  const sorted = [...blocks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, block]) => block);
  return `${heading}\n${sorted.join("\n\n")}\n`;
}

function render({ source, version, hash }: LockEntry): string {
  return `provider "${source}" {
  version     = "${version}"
  constraints = "${version}"
  hashes = [
    "${hash}",
  ]
}`;
}

/** The `h1:` hash that Terraform's lock file has for a provider: over names and contents, the same on every platform. */
export function directoryHash(files: ReadonlyMap<string, Uint8Array>): string {
  return hashOf([...files].map(([name, content]) => [name, createHash("sha256").update(content).digest("hex")]));
}

/** Of names with the SHA-256 of their contents. */
function hashOf(files: readonly (readonly [name: string, sum: string])[]): string {
  const list = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sum]) => `${sum}  ${name}\n`)
    .join("");
  return `h1:${createHash("sha256").update(list).digest("base64")}`;
}
