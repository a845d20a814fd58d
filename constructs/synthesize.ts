// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { App } from "cdktn";
import { type Environment, type Fault, listEnvironments, loadEnvironment } from "../model/index.ts";
import { stateFile } from "./backend.ts";
import { isFormer } from "./cluster/moves.ts";
import { EnvironmentStack } from "./environment-stack.ts";
import { writeWhole } from "./write-whole.ts";

export interface SynthOptions {
  /** Folder that holds environments/. */
  readonly projectRoot: string;
  /** Folder that the stacks are written to. Its parent has to be there. */
  readonly outdir: string;
  /** @default - all environments of the project */
  readonly environments?: readonly string[];
  /** Adds to an environment's stack what its file can't say. */
  readonly extend?: (stack: EnvironmentStack) => void;
  /** Texts, by path from the project's root, that count instead of what the files have. @default - none */
  readonly unsaved?: ReadonlyMap<string, string>;
}

export interface SynthResult {
  /** The environments whose stacks were written. */
  readonly stacks: readonly SynthesizedStack[];
  /** The others, each with the reason. */
  readonly failures: readonly SynthFailure[];
}

interface SynthesizedStack {
  readonly environment: Environment;
  /** Relative to the output folder. */
  readonly directory: string;
  readonly warnings: readonly Fault[];
}

interface SynthFailure {
  readonly environment: string;
  readonly error: Error;
}

/** Writes the Terraform stack of each environment. A fault in one does not keep the others from being written. */
export function synthesize({ projectRoot, outdir, environments, extend, unsaved }: SynthOptions): SynthResult {
  // For each reference the CDK would note down where in our code it was made: a tenth of the whole time, of use to nobody.
  process.env.CDKTN_DISABLE_CREATION_STACK ??= "1";
  const app = new App({ outdir, stackTraces: false });
  const stacks: SynthesizedStack[] = [];
  const failures: SynthFailure[] = [];
  for (const name of environments ?? listEnvironments(projectRoot)) {
    try {
      const environment = loadEnvironment(projectRoot, name, unsaved);
      const stack = new EnvironmentStack(app, environment);
      extend?.(stack);
      const directory = `stacks/${name}`;
      const places = {
        stateFile: join(projectRoot, stateFile(name)),
        stackFolder: join(outdir, directory),
        hclFolder: join(projectRoot, "terraform", name),
      };
      if (isFormer(places)) stack.moveFromOwnBlocks();
      stacks.push({ environment, directory, warnings: environment.warnings });
    } catch (error) {
      app.node.tryRemoveChild(name);
      failures.push({ environment: name, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
  writeWhole(app);
  return { stacks, failures };
}
