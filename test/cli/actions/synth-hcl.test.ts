// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { synthHcl } from "../../../cli/actions/synth.ts";
import type { CommandContext } from "../../../cli/context.ts";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";

let folder: string;
let written: string;
const hcl = () => join(folder, "terraform/lab");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-synth-hcl-"));
  written = "";
  mkdirSync(join(folder, "environments"));
  writeFileSync(join(folder, "cdktf.json"), "{}");
  writeFileSync(
    join(folder, "environments/lab.yaml"),
    "infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: {}\n",
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function context(): CommandContext {
  const write = (text: string) => {
    written += text;
  };
  const output = { write, isTerminal: false };
  const signal = new AbortController().signal;
  return {
    stdout: output,
    stderr: output,
    clock: systemClock,
    entropy: systemEntropy,
    cwd: folder,
    name: "talosmith",
    env: {},
    signal,
    exit: () => undefined,
  };
}

describe("talosmith synth --hcl", () => {
  it("writes the files of an environment and says where", async () => {
    await synthHcl("lab", { check: false }, context());
    expect(readdirSync(hcl())).toEqual([
      "image.tf",
      "locals.tf",
      "main.tf",
      "outputs.tf",
      "storage.tf",
      "talos.tf",
      "versions.tf",
    ]);
    expect(written).toMatch(/^lab: Initial config: trust on first use\..*\nterraform\/lab\n$/);
  });

  it("finds, with --check, what is missing, edited or left over, and touches nothing", async () => {
    await expect(synthHcl("lab", { check: true }, context())).rejects.toThrow("terraform/lab/versions.tf");
    await synthHcl(undefined, { check: false }, context());
    await synthHcl(undefined, { check: true }, context());
    appendFileSync(join(hcl(), "talos.tf"), "# mine\n");
    writeFileSync(join(hcl(), "network.tf"), readFileSync(join(hcl(), "main.tf")));
    writeFileSync(join(hcl(), "own.tf"), "# not ours\n");
    await expect(synthHcl("lab", { check: true }, context())).rejects.toThrow(
      "not as they would be written: terraform/lab/talos.tf, terraform/lab/network.tf",
    );
    expect(readFileSync(join(hcl(), "talos.tf"), "utf8")).toContain("# mine");
  });

  it("removes what it wrote before and no longer needs, and leaves other files alone", async () => {
    await synthHcl("lab", { check: false }, context());
    writeFileSync(join(hcl(), "own.tf"), "# not ours\n");
    writeFileSync(join(folder, "environments/lab.yaml"), "infrastructure: { kind: simulated }\ncontrolPlane: {}\n");
    await synthHcl("lab", { check: false }, context());
    expect(readdirSync(hcl())).toEqual(["locals.tf", "main.tf", "outputs.tf", "own.tf", "talos.tf", "versions.tf"]);
  });

  it("fails with the environment's faults", async () => {
    writeFileSync(join(folder, "environments/lab.yaml"), "infrastructure: { kind: nope }\n");
    await expect(synthHcl("lab", { check: false }, context())).rejects.toThrow(/environments\/lab\.yaml:1:25/);
  });
});
