// SPDX-License-Identifier: Apache-2.0
// The workflows of docs/ci.md, step by step: the real terraform with our real provider, a stand-in for AWS, npm and GitHub.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWithOwnProvider } from "../pages/clouds.ts";
import { snippetOf } from "../pages/snippets.ts";
import type { World } from "../pages/walk.ts";
import { terraform } from "../pages/worlds.ts";
import { runGithubJob, runGitlabJob } from "../support/ci-job.ts";
import { everything } from "../support/everything.ts";

if (terraform === undefined) console.warn("SKIPPED: the workflows of docs/ci.md, because there is no terraform");

const page = "docs/ci.md";
const values = {
  "secrets.SOPS_AGE_KEY": "AGE-SECRET-KEY-OF-THE-TEAM",
  "github.token": "a-token",
  "github.event.number": "17",
};
/** What a change in a pull request does to staging. */
const changes = [
  { change: "that is a first deploy", add: "", dangerous: false },
  { change: "that opens a port to the world", add: "  kubernetesApiFromAnywhere: true\n", dangerous: true },
];
const staging = readFileSync("environments/staging.yaml", "utf8");

describe.skipIf(terraform === undefined)("the workflows of docs/ci.md", () => {
  let world: World;
  beforeAll(async () => {
    const files = {
      "cdktf.json": "{}",
      "environments/base.yaml": readFileSync(resolve("environments/base.yaml"), "utf8"),
    };
    const opened = await openWithOwnProvider({ files });
    if ("missing" in opened) throw new Error(opened.missing);
    world = opened;
    const { shell } = world;
    shell.standIn("tofu", `exec '${terraform}' "$@"`);
    // The packages of the repository are those of this checkout.
    shell.standIn("npm", '[ "$*" = ci ]');
    // GitHub's runners have it; a first plan only looks for it.
    shell.standIn("helm", "exit 1");
    shell.standIn("gh", 'echo "$@" > gh.calls; [ "$1 $2" = "pr comment" ] && cp "$5" comment.md');
  });
  afterAll(() => world?.close());

  // The dangerous one stands for both where time is short.
  test.each(everything ? changes : changes.slice(1))(
    "GitHub: a pull request $change gets the review as a comment",
    async ({ add, dangerous }) => {
      const { shell } = world;
      const read = (file: string) => readFileSync(join(shell.root, file), "utf8");
      await shell.ok(`cd '${shell.root}' && rm -rf cdktf.out review.md comment.md`);
      writeFileSync(
        join(shell.root, "environments/staging.yaml"),
        staging.replace("access: nlb\n", `access: nlb\n${add}`),
      );
      const { ran, used, failed } = await runGithubJob(snippetOf(page, "yaml", 0), "staging", shell, values);
      expect(used).toEqual(["actions/checkout@v4", "actions/setup-node@v4", "opentofu/setup-opentofu@v1"]);
      expect(failed, JSON.stringify(ran)).toBe(dangerous);
      expect(read("gh.calls")).toBe("pr comment 17 --body-file review.md --edit-last --create-if-none\n");
      expect(read("comment.md")).toContain("Cluster `staging`");
      expect(read("comment.md").startsWith("## 1 danger")).toBe(dangerous);
      // The step that reviews fails, and no other.
      expect(ran.filter(({ code }) => code !== 0).map(({ code }) => code)).toEqual(dangerous ? [2] : []);
    },
  );

  test.runIf(everything).each(changes)(
    "GitLab: a merge request $change keeps the review",
    async ({ add, dangerous }) => {
      const { shell } = world;
      await shell.ok(`cd '${shell.root}' && rm -rf cdktf.out`);
      writeFileSync(
        join(shell.root, "environments/staging.yaml"),
        staging.replace("access: nlb\n", `access: nlb\n${add}`),
      );
      const { ran, failed, artifacts } = await runGitlabJob(snippetOf(page, "yaml", 1), "plan staging", shell);
      expect(failed, JSON.stringify(ran)).toBe(dangerous);
      const [review = ""] = artifacts;
      expect(readFileSync(join(shell.root, review), "utf8").startsWith("## 1 danger")).toBe(dangerous);
    },
  );
});
