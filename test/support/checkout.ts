// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Checkout {
  readonly root: string;
  /** What `git status --porcelain` says: empty when nothing that git would see was written. */
  gitStatus(): string;
  remove(): void;
}

/** A checkout of the present sources in a folder of its own, so that a test never touches a developer's own cluster. */
export function createCheckout(
  root: string = realpathSync(mkdtempSync(join(tmpdir(), "talosmith-checkout-"))),
): Checkout {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "pipe" }).toString();
  const sources = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    .toString()
    .split("\0")
    .filter((file) => file !== "" && existsSync(file));
  for (const file of sources) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    copyFileSync(file, join(root, file));
  }
  symlinkSync(join(process.cwd(), "node_modules"), join(root, "node_modules"));
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "checkout");
  return {
    root,
    gitStatus: () => git("status", "--porcelain"),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
