// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "./project.ts";

// checkov comes from PyPI (python3 -m venv x && x/bin/pip install checkov); TALOSMITH_CHECKOV names it elsewhere than on the PATH.
const checkov =
  process.env.TALOSMITH_CHECKOV ??
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "checkov"))
    .find((path) => existsSync(path));

/** Rules that a stack breaks on purpose, each with the reason; seven over all stacks. */
const always = {
  CKV_AWS_91: "access logs of a network load balancer exist for TLS listeners only, and ours pass TCP through",
};
const buckets = {
  CKV_AWS_144: "etcd snapshots are small and short-lived; a second region is the operator's choice",
  CKV_AWS_145: "S3 cannot deliver access logs to a bucket with a KMS key; theirs has S3's own encryption",
};
const takenDown = { CKV_AWS_150: "meant to be taken down, so not protected from deletion" };
const skips: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  production: { ...always, ...buckets },
  staging: { ...always, ...buckets, ...takenDown },
  sandbox: {
    ...always,
    ...takenDown,
    CKV_AWS_88: "access: public is what makes it cheap",
    CKV_AWS_126: "metrics by the minute are paid for by the instance",
    CKV2_AWS_11: "flow logs are paid for by the gigabyte",
  },
};

/** The rules of the project's promise; others that checkov grows are not ours to keep. */
const promised = JSON.parse(readFileSync(new URL("../golden/checkov-rules.json", import.meta.url), "utf8")) as string[];

interface Report {
  readonly results: { readonly failed_checks: readonly { readonly check_id: string; readonly resource: string }[] };
  readonly summary: { readonly passed: number };
}

describe.runIf(checkov !== undefined)("checkov over the HCL in terraform/", () => {
  it.each(Object.keys(skips))(
    "%s keeps every promised rule but those skipped with a reason",
    { timeout: 180_000 },
    async (name) => {
      const directory = join(repositoryRoot, "terraform", name);
      const args = [
        "--directory",
        directory,
        "--framework",
        "terraform",
        "--output",
        "json",
        "--skip-download",
        "--soft-fail",
      ];
      const { stdout } = await promisify(execFile)(checkov ?? "checkov", args, { maxBuffer: 64 * 1024 * 1024 });
      const { results, summary } = JSON.parse(stdout) as Report;
      const reasons = skips[name] ?? {};
      expect(summary.passed).toBeGreaterThan(150);
      expect(new Set(Object.values(skips).flatMap(Object.keys)).size).toBeLessThanOrEqual(7);
      const failed = results.failed_checks.filter(
        ({ check_id }) => promised.includes(check_id) && !(check_id in reasons),
      );
      expect(failed.map(({ check_id, resource }) => `${check_id} ${resource}`)).toEqual([]);
      const stale = Object.keys(reasons).filter((id) => !results.failed_checks.some(({ check_id }) => check_id === id));
      expect(stale).toEqual([]);
    },
  );
});
