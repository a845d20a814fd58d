// SPDX-License-Identifier: Apache-2.0
// npm drops the entry of a platform's package from the lock file when the registry in use can't deliver it, and `npm ci`
// then refuses the file on every platform. This puts such entries back, by the names that these packages go by.
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const systems = ["android", "darwin", "linux", "win32", "freebsd", "netbsd", "openbsd", "openharmony", "sunos", "aix"];
const processors = ["arm64", "x64", "arm", "ia32", "ppc64", "s390x", "riscv64", "loong64", "mips64el", "wasm32"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Entry> };
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const target = `node_modules/${name}`;
    if (lock.packages[target] !== undefined || lock.packages[`${path}/${target}`] !== undefined) continue;
    lock.packages[target] = platformEntry(name, version, entry);
    console.log(`${name}@${version} put back`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, undefined, 2)}\n`);

function platformEntry(name: string, version: string, { dev, license, engines }: Entry): Entry {
  const words = name.split(/[/-]/);
  const cpu = words.find((word) => processors.includes(word));
  const os = words.find((word) => systems.includes(word));
  if (cpu === undefined) throw new Error(`${name}: for which processor? Add its entry by hand.`);
  const libc = words.includes("musl") ? ["musl"] : words.some((word) => word.startsWith("gnu")) ? ["glibc"] : undefined;
  return { version, cpu: [cpu], dev, optional: true, os: os === undefined ? undefined : [os], libc, license, engines };
}
