// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { BlockList, isIP } from "node:net";
import { join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { packageVersion } from "../../talos/own-files.ts";
import { loadAssets, type ServeOptions, serveUi } from "../../web/server/index.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { projectRoot } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";
import { findBrowser, openInBrowser } from "../open-browser.ts";
import { jsonLine } from "../output/table.ts";

const interval = 3_000;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Other names may mean any address. */
function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === "localhost" : loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}

interface UiFlags extends Required<Pick<ServeOptions, "port" | "host" | "readOnly">> {
  readonly allowUnencryptedRemote: boolean;
  /** Whether a browser is opened where there is one. */
  readonly open: boolean;
  readonly json: boolean;
}

export async function ui(
  { port, host, readOnly, allowUnencryptedRemote, open, json }: UiFlags,
  context: CommandContext,
): Promise<void> {
  if (!allowUnencryptedRemote && !isLoopback(host))
    throw new TalosError("invalid-input", `--host ${host} opens the UI to other machines over plain HTTP`, {
      hint: "Anyone who can read the traffic can take over the session and administer your clusters. Safer: keep 127.0.0.1 and use ssh -L 8080:127.0.0.1:8080. To open it all the same, add --allow-unencrypted-remote.",
    });
  const secret = () => Buffer.from(context.entropy(32)).toString("base64url");
  const token = secret();
  const root = projectRoot(context.cwd, context.env);
  const running = await serveUi({
    host,
    port,
    readOnly,
    token,
    newSession: secret,
    version: packageVersion(),
    program: context.name,
    project: openConsoleProject(root, context),
    assets: await loadAssets(),
    now: () => context.clock.now(),
    interval,
  });
  const address = `${running.address}#token=${token}`;
  context.stdout.write(json ? jsonLine({ v: 1, address }) : `${address}\n`);
  const browser = open && isLoopback(host) ? findBrowser(context) : { missing: "" };
  const opened =
    "command" in browser ? await openInBrowser(address, join(root, "generated"), browser, context) : undefined;
  const reason = "missing" in browser && browser.missing !== "" ? ` (no browser was opened: ${browser.missing})` : "";
  const next = opened === undefined ? `Open it in a browser${reason}` : "Your browser opens it";
  context.stderr.write(`${next}; the token works once. Ctrl-C ends the page; clusters go on.\n`);
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    context.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  if (opened !== undefined) await rm(opened, { force: true });
  await running.close();
}
