// SPDX-License-Identifier: Apache-2.0
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageProvider, providerDirectory, providerSource } from "../../provider/package.ts";
import { readBundle } from "../../provider/packaging/bundle.ts";
import { directoryHash, installUnder, lockProvider } from "../../provider/packaging/install.ts";
import type { ClusterWorkspace } from "./cluster-workspace.ts";

const startFile = "terraform-provider-talosmith.cjs";

/** When the provider ends itself with SIGKILL: as the nth call of a kind arrives, or as the journal has so many lines. */
export type KillAt = { readonly rpc: string; readonly nth: number } | { readonly journal: number };

/**
 * Puts a provider into a workspace that is the real one behind a start file of ours, which looks at the calls as they
 * arrive. Nothing of this is in the provider itself.
 */
export async function installKillingProvider(workspace: ClusterWorkspace): Promise<void> {
  const { version } = await packageProvider();
  const files = new Map(await readBundle(await providerDirectory()));
  const real = files.get(startFile);
  if (real === undefined) throw new Error("the bundle has no start file");
  files.set("real.cjs", real);
  files.set(
    startFile,
    Buffer.from(`#!/usr/bin/env node\n(${wrapper.toString()})(${JSON.stringify(workspace.directory)})\n`),
  );
  const identity = { source: providerSource, version };
  await installUnder(join(workspace.directory, "terraform.d", "plugins"), files, identity);
  rmSync(join(workspace.directory, ".terraform"), { recursive: true, force: true });
  await lockProvider(workspace.directory, directoryHash(files), identity);
  await workspace.ok(["init", "-input=false", "-no-color"]);
}

export function killAt(workspace: ClusterWorkspace, moment: KillAt | undefined): void {
  workspace.write("kill.json", JSON.stringify(moment ?? {}));
  writeFileSync(join(workspace.directory, "calls.log"), "");
}

/** The calls that arrived since the last `killAt`. */
export function callsOf(workspace: ClusterWorkspace): string[] {
  return readFileSync(join(workspace.directory, "calls.log"), "utf8").trim().split("\n").filter(Boolean);
}

/** Runs inside of the provider's process; must hold everything that it uses. */
function wrapper(folder: string): void {
  const fs: typeof import("node:fs") = require("node:fs");
  type Create = (...args: unknown[]) => import("node:http2").Http2SecureServer;
  const http2: { createSecureServer: Create } = require("node:http2");
  const path: typeof import("node:path") = require("node:path");
  const wish = JSON.parse(fs.readFileSync(path.join(folder, "kill.json"), "utf8"));
  const log = path.join(folder, "calls.log");
  const die = () => process.kill(process.pid, "SIGKILL");
  const create = http2.createSecureServer;
  http2.createSecureServer = (...args) => {
    const server = create(...args);
    server.on("session", (session) => {
      session.on("stream", (_stream, headers) => {
        const rpc = String(headers[":path"]).replace("/tfplugin6.Provider/", "");
        if (rpc.startsWith("/")) return;
        fs.appendFileSync(log, `${rpc}\n`);
        const seen = fs
          .readFileSync(log, "utf8")
          .split("\n")
          .filter((line: string) => line === rpc).length;
        if (rpc === wish.rpc && seen === wish.nth) die();
      });
    });
    return server;
  };
  if (wish.journal !== undefined)
    setInterval(() => {
      try {
        const lines = fs.readFileSync(path.join(folder, "generated/test/journal.jsonl"), "utf8").split("\n").length - 1;
        if (lines >= wish.journal) die();
      } catch {
        // There is no journal yet.
      }
    }, 2);
  process.argv[1] = path.join(__dirname, "real.cjs");
  require("./real.cjs");
}
