// SPDX-License-Identifier: Apache-2.0
import { loadAssets, type ServeOptions, serveUi } from "../../web/server/index.ts";
import type { CommandContext } from "../context.ts";
import { projectWorkshop } from "../helper/workshop.ts";
import { packageVersion } from "../package-version.ts";
import { projectRoot } from "../project-root.ts";

const interval = 3_000;

export async function ui(
  { port, host, readOnly }: Required<Pick<ServeOptions, "port" | "host" | "readOnly">>,
  context: CommandContext,
): Promise<void> {
  const secret = () => Buffer.from(context.entropy(32)).toString("base64url");
  const token = secret();
  const running = await serveUi({
    host,
    port,
    readOnly,
    token,
    newSession: secret,
    version: packageVersion(),
    program: context.name,
    workshop: projectWorkshop(projectRoot(context.cwd, context.env), context),
    assets: await loadAssets(),
    now: () => context.clock.now(),
    interval,
  });
  context.stdout.write(`${running.address}#token=${token}\n`);
  context.stderr.write("Open it in a browser; the token works once. Ctrl-C ends the page; clusters go on.\n");
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    context.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await running.close();
}
