// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { readBundle, startFile } from "./bundle.ts";
import { mergeLockFile } from "./lock-file.ts";

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
): Promise<string> {
  const target = join(plugins, ...source.split("/"), version);
  if (await isInstalled(target, files)) return target;
  const fresh = `${target}.${randomBytes(6).toString("hex")}.new`;
  try {
    const [first, ...others] = platforms;
    await mkdir(join(fresh, first), { recursive: true });
    for (const [name, content] of files) await writeFile(join(fresh, first, name), content);
    await chmod(join(fresh, first, startFile), 0o755);
    for (const platform of others) await symlink(first, join(fresh, platform));
    await replaceFolder(target, fresh);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return target;
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
