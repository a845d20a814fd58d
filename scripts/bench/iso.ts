// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createIso } from "../../cloud-init/index.ts";
import { findProgram } from "../../test/support/programs.ts";
import { fastest, type Row, succeed } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

const files = {
  "meta-data": "instance-id: bench\nlocal-hostname: bench\n",
  "network-config": "version: 2\nethernets: {}\n",
  "user-data": "",
};

export const iso: Row = {
  name: "NoCloud ISO",
  anchor: "cloud-localds",
  budget: 0.1,
  async measure() {
    const folder = scratchFolder();
    const encoder = new TextEncoder();
    const content = Object.entries(files).map(([name, text]) => ({ name, content: encoder.encode(text) }));
    const ours = await fastest(20, () => writeFileSync(join(folder, "ours.iso"), createIso("cidata", content)));
    const cloudLocalds = findProgram("cloud-localds");
    if (cloudLocalds === undefined) return { ours, anchor: undefined, unit: "ms" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const args = ["--network-config=network-config", "theirs.iso", "user-data", "meta-data"];
    return { ours, anchor: await fastest(10, () => succeed(cloudLocalds, args, { cwd: folder })), unit: "ms" };
  },
};
