// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { access, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isExecutable, packageRoot, packageVersion } from "../talos/own-files.ts";
import { bundleProvider, readBundle, sourceHash } from "./packaging/bundle.ts";
import { directoryHash, executableHash, installExecutable, installUnder, lockProvider } from "./packaging/install.ts";
import { writeRelease } from "./packaging/release.ts";

/** Nobody can register a name under `.internal`: an absent directory can't become somebody else's provider. */
export const providerSource = "talosmith.internal/talosmith/talosmith";

/** The provider that this talosmith comes with. */
export interface ProviderPackage {
  readonly version: string;
  /** The `h1:` hash for lock files. */
  readonly hash: string;
  /** Puts it under a directory of plugins. */
  install(plugins: string): Promise<void>;
}

export async function packageProvider(): Promise<ProviderPackage> {
  const identity = { source: providerSource, version: packageVersion() };
  const { version } = identity;
  if (isExecutable()) {
    const { execPath } = process;
    const install = (plugins: string) => installExecutable(plugins, execPath, identity);
    return { version, hash: await executableHash(execPath, version), install };
  }
  const files = await readBundle(await providerDirectory());
  return { version, hash: directoryHash(files), install: (plugins) => installUnder(plugins, files, identity) };
}

/**
 * The provider's directory: the prebuilt one of a published package, else one built from this checkout into a cache
 * that is keyed by the sources.
 */
export async function providerDirectory(): Promise<string> {
  const root = packageRoot();
  return import.meta.url.endsWith(".ts") ? buildIntoCache(root) : join(root, "dist", "provider");
}

/** Builds the provider from a checkout into `directory`. */
export async function buildProvider(
  root: string,
  directory: string,
  options: { readonly sourceMaps?: boolean } = {},
): Promise<void> {
  const [entry, session, daemon] = ["provider/main.ts", "provider/session.ts", "simulator/daemon.ts"];
  await bundleProvider({ root, entry, session, daemon, outDir: directory, ...options });
}

/** Lays the provider beside a stack and locks it, so that `init` needs neither network nor settings. */
export async function installProvider(stack: string, given?: ProviderPackage): Promise<ProviderPackage> {
  const made = given ?? (await packageProvider());
  await made.install(join(stack, "terraform.d", "plugins"));
  await lockProvider(stack, made.hash, { source: providerSource, version: made.version });
  return made;
}

/**
 * Puts the provider where `init` finds it from any directory: below the user's own plugin folder, which both tools look
 * into, or below `plugins`. Returns that folder.
 */
export async function installProviderForUser(
  plugins: string = join(homedir(), ".terraform.d", "plugins"),
): Promise<{ readonly plugins: string; readonly version: string; readonly hash: string }> {
  const { version, hash, install } = await packageProvider();
  await install(plugins);
  return { plugins, version, hash };
}

/** Writes the release: archives for a registry and a filesystem mirror, with checksums. */
export async function releaseProvider(target: string): Promise<ProviderPackage> {
  const made = await packageProvider();
  const files = await readBundle(await providerDirectory());
  await writeRelease(target, files, { source: providerSource, version: made.version });
  return made;
}

async function buildIntoCache(root: string): Promise<string> {
  const cache = join(root, "node_modules", ".cache", "talosmith");
  const target = join(cache, `provider-${sourceHash(root).slice(0, 16)}`);
  if (await exists(target)) return target;
  await mkdir(cache, { recursive: true });
  const work = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    await buildProvider(root, work);
    await rename(work, target);
  } catch (error) {
    // Another process may have built the same thing meanwhile.
    if (!(await exists(target))) throw error;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await dropOlder(cache, target);
  return target;
}

const hour = 3_600_000;

/** Keeps the cache from growing with every change of a source file. What is young may be in use by somebody else. */
async function dropOlder(cache: string, current: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => name.startsWith("provider-"));
  for (const path of names.map((name) => join(cache, name))) {
    if (path !== current && Date.now() - (await stat(path)).mtimeMs > hour)
      await rm(path, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
