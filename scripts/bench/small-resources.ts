// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installProvider } from "../../provider/package.ts";
import { startTime } from "./provider-start.ts";
import { fastest, type Row, succeed } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

const count = 100;

export const smallResources: Row = {
  name: "terraform apply of 100 small resources",
  anchor: "terraform_data + 5 starts + 5 ms each",
  budget: 1,
  async measure() {
    if (spawnSync("terraform", ["version"]).status !== 0) return { ours: Number.NaN, anchor: undefined, unit: "ms" };
    const ours = await applyTime(`
terraform {
  required_providers {
    talosmith = { source = "talosmith.internal/talosmith/talosmith" }
  }
}
resource "talosmith_member" "this" {
  count      = ${count}
  name       = "m-\${count.index}"
  cluster    = "bench"
  machine_id = "i-\${count.index}"
  address    = "127.0.0.1"
  on_destroy = "keep"
}
`);
    const builtIn = await applyTime(`
resource "terraform_data" "this" {
  count = ${count}
  input = { name = "m-\${count.index}", cluster = "bench", address = "127.0.0.1" }
}
`);
    return { ours, anchor: builtIn + 5 * (await startTime(5)) + 5 * count, unit: "ms" };
  },
};

async function applyTime(body: string): Promise<number> {
  const folder = scratchFolder();
  writeFileSync(join(folder, "main.tf"), body);
  await installProvider(folder);
  const env = { ...process.env, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" };
  succeed("terraform", ["init", "-input=false"], { cwd: folder, env });
  return fastest(3, () => {
    rmSync(join(folder, "terraform.tfstate"), { force: true });
    succeed("terraform", ["apply", "-auto-approve", "-input=false"], { cwd: folder, env });
  });
}
