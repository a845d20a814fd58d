// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleProvider, readBundle } from "../../provider/packaging/bundle.ts";
import { directoryHash, installUnder, lockProvider } from "../../provider/packaging/install.ts";
import { type Tool, Workspace } from "./terraform.ts";

const identity = { source: "talosmith.internal/test/talosmith", version: "0.1.0" };

/** The small test provider, built once and installed into as many workspaces as a test needs. */
export class ThingProvider {
  readonly directory = mkdtempSync(join(tmpdir(), "talosmith-thing-"));

  async build(): Promise<void> {
    const root = join(import.meta.dirname, "..", "..");
    await bundleProvider({ root, entry: "test/support/thing-main.ts", outDir: this.directory });
  }

  async workspace(tool: Tool, body: string, environment: Readonly<Record<string, string>> = {}): Promise<Workspace> {
    const workspace = new Workspace(tool, environment);
    const files = await readBundle(this.directory);
    await installUnder(join(workspace.directory, "terraform.d", "plugins"), files, identity);
    await lockProvider(workspace.directory, directoryHash(files), identity);
    workspace.write("provider.tf", header);
    workspace.write("main.tf", body);
    await workspace.ok(["init", "-input=false", "-no-color"]);
    return workspace;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const header = `
terraform {
  required_providers {
    thing = {
      source  = "${identity.source}"
      version = "${identity.version}"
    }
  }
}

provider "thing" {
  directory = "\${path.module}/things"
}
`;
