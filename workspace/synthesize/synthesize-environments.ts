// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { type EnvironmentStack, encryptionFile, type SynthResult, synthesize } from "../../constructs/index.ts";
import { packageProvider } from "../../provider/package.ts";
import { given } from "../../talos/given.ts";
import { completeStack, protectStates } from "./complete-stack.ts";

export interface SynthesizeOptions {
  /** The project: the folder of cdktf.json and environments/. */
  readonly root: string;
  /** @default cdktf.out in the project */
  readonly outdir?: string;
  /** @default - all environments of the project */
  readonly environments?: readonly string[];
  /** Adds to an environment's stack what its file can't say. */
  readonly extend?: (stack: EnvironmentStack) => void;
}

/** Writes the stacks of environment files, ready for `init`: with the provider, its lock entry and the committed locks. */
export async function synthesizeEnvironments(options: SynthesizeOptions): Promise<SynthResult> {
  const { root, outdir = join(root, "cdktf.out"), environments, extend } = options;
  const result = synthesize({
    projectRoot: root,
    outdir,
    ...given({ environments, extend }),
  });
  const provider = await packageProvider();
  for (const { environment, directory } of result.stacks) {
    const encryption = encryptionFile(environment.backend);
    await completeStack(root, { name: environment.name, directory: join(outdir, directory), provider, encryption });
  }
  if (result.stacks.some(({ environment }) => environment.backend.kind === "local")) await protectStates(root);
  return result;
}
