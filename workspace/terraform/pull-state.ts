// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as z from "zod";
import { encryptionFileName } from "../../constructs/index.ts";
import { given } from "../../talos/given.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import { Terraform, type TerraformOptions } from "./terraform.ts";

const stackSchema = z.looseObject({
  terraform: z.looseObject({
    backend: z.record(z.string(), z.looseObject({ path: z.string().optional() })),
    encryption: z.unknown().optional(),
  }),
});

/**
 * The state of a synthesized stack, wherever it is kept, in the clear; undefined when there is none. It asks for the
 * stack's backend alone: its providers need not be there to read what is written.
 */
export async function pullState({ directory, ...options }: TerraformOptions): Promise<string | undefined> {
  const { terraform } = stackSchema.parse(JSON.parse(await readFile(join(directory, "cdk.tf.json"), "utf8")));
  const { backend, encryption } = terraform;
  // Relative to the stack, which this is not.
  const placed = Object.entries(backend).map(([kind, settings]) => [
    kind,
    settings.path === undefined ? settings : { ...settings, path: resolve(directory, settings.path) },
  ]);
  const folder = temporaryFolder("state");
  try {
    const only = { backend: Object.fromEntries(placed), ...given({ encryption }) };
    await writeFile(join(folder, "backend.tf.json"), JSON.stringify({ terraform: only }));
    const sealed = join(directory, encryptionFileName);
    if (existsSync(sealed)) await copyFile(sealed, join(folder, encryptionFileName));
    const program = new Terraform({ ...options, directory: folder });
    // It fails for providers, but not before the backend is ready; whether it is, the next command tells.
    const failure = await program.initBackend();
    const text = await program.pullState().catch((error: unknown) => {
      throw failure ?? error;
    });
    return text || undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
