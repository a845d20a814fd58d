// SPDX-License-Identifier: Apache-2.0
// Reviews of plans that the real terraform made of stacks that are there, with stand-ins for all providers.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCloud } from "../pages/clouds.ts";
import type { World } from "../pages/walk.ts";
import { environments, terraform } from "../pages/worlds.ts";
import { everything } from "../support/everything.ts";
import { pageItems } from "../support/pages.ts";

if (terraform === undefined) console.warn("SKIPPED: reviews of real plans, because there is no terraform");

/** What is done to an environment that was deployed, and what the review must say first. */
const cases = [
  {
    name: "sandbox",
    change: "the Kubernetes API is opened to the world",
    edit: (text: string) => text.replace("access: public", "access: public\n  kubernetesApiFromAnywhere: true"),
    says: "Port opened to the world",
  },
  {
    name: "lab",
    change: "a worker gets another disk",
    edit: (text: string) => text.replace("disk: 40GiB", "disk: 60GiB"),
    says: 'libvirt_volume.worker_disk["w-1"]',
  },
  { name: "lab", change: "all of it is destroyed", flags: "-destroy", says: "talosmith_cluster.cluster" },
];

/** A line of what `terraform plan -json` prints. */
interface Message {
  readonly type: string;
  readonly change?: { readonly resource: { readonly resource_key: string | null } };
}

describe.skipIf(terraform === undefined || !everything)("a review of a real plan", () => {
  let world: World;
  beforeAll(async () => {
    const opened = await openCloud({ files: { "cdktf.json": "{}", ...environments("base", "sandbox", "lab") } });
    if ("missing" in opened) throw new Error(opened.missing);
    world = opened;
    for (const name of new Set(cases.map((each) => each.name)))
      await world.shell.ok(`npx talosmith deploy ${name} --yes`);
  });
  afterAll(() => world?.close());

  test.each(cases)(
    "where $change names that first, and fails",
    async ({ name, edit = (text) => text, flags = "", says }) => {
      const { shell } = world;
      const path = join(shell.root, `environments/${name}.yaml`);
      const before = readFileSync(path, "utf8");
      writeFileSync(path, edit(before));
      try {
        await shell.ok(`cd '${shell.root}' && npx talosmith synth ${name} && cd cdktf.out/stacks/${name}`);
        await shell.ok(`terraform init && terraform plan -out=plan ${flags} && terraform show -json plan > plan.json`);
        const { code, stdout } = await shell.type("npx talosmith review plan.json --fail-on danger");
        expect(stdout).toMatch(/^## \d+ dangers?/);
        const [, danger = ""] = /### Danger\n([\s\S]*?)\n(?:###|<details)/.exec(stdout) ?? [];
        expect(danger, stdout).toContain(says);
        expect(code).toBe(2);
      } finally {
        writeFileSync(path, before);
      }
    },
  );

  test("with the targets of docs/scale.md changes one machine; with its membership alone, others too", async () => {
    const { shell } = world;
    const path = join(shell.root, "environments/lab.yaml");
    const before = readFileSync(path, "utf8");
    const more = before.replace(/(controlPlane:[\s\S]*?memory: )4GiB/, "$16GiB");
    expect(more).not.toBe(before);
    writeFileSync(path, more);
    const command = pageItems("docs/scale.md").find(({ text }) => text.startsWith("terraform apply $("))?.text ?? "";
    const changed = async (targets: string) => {
      const { stdout } = await shell.type(`terraform plan -json ${targets}`);
      const messages = stdout
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Message] : []));
      const changes = messages.filter(({ type }) => type === "planned_change");
      return new Set(changes.map(({ change }) => change?.resource.resource_key));
    };
    try {
      await shell.ok(`cd '${shell.root}' && npx talosmith synth lab && cd cdktf.out/stacks/lab && terraform init`);
      expect(await changed(command.replace("terraform apply ", ""))).toEqual(new Set(["cp-1"]));
      expect(await changed(`-target='talosmith_member.control_plane["cp-1"]'`)).toContain("cp-2");
    } finally {
      writeFileSync(path, before);
    }
  });
});
