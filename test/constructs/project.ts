// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { evaluateStack, type JsonObject, type SynthResult, synthesize, type Value } from "../../constructs/index.ts";
import { listEnvironments } from "../../model/index.ts";

export const repositoryRoot: string = new URL("../../", import.meta.url).pathname;

/** The environments of the repository and those of examples/, with the project that each belongs to. */
export function allEnvironments(): readonly { readonly name: string; readonly root: string }[] {
  return [repositoryRoot, `${repositoryRoot}examples/`].flatMap((root) =>
    listEnvironments(root).map((name) => ({ name, root })),
  );
}

/** The JSON of a synthesized stack, as far as tests look into it. */
export interface StackJson {
  readonly terraform: {
    readonly backend: Record<string, unknown>;
    readonly required_providers: Record<string, unknown>;
  };
  readonly provider: Record<string, Record<string, unknown>[]>;
  readonly resource: Record<string, Record<string, Record<string, unknown>>>;
  readonly locals?: Record<string, Record<string, Record<string, unknown>>>;
  readonly data?: Record<string, Record<string, Record<string, unknown>>>;
  readonly output: Record<string, { readonly value: unknown }>;
}

/** Synthesizes in a folder of its own, gives the result to `use`, and removes the folder. */
export function withSynth<T>(
  projectRoot: string,
  environments: readonly string[] | undefined,
  use: (result: SynthResult, text: (name: string) => string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-synth-"));
  try {
    const outdir = join(folder, "out");
    const result = synthesize({ projectRoot, outdir, ...(environments === undefined ? {} : { environments }) });
    return use(result, (name) => readFileSync(join(outdir, "stacks", name, "cdk.tf.json"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A project with these environment files, for as long as `use` runs. */
export function withProject<T>(files: Readonly<Record<string, string>>, use: (projectRoot: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), "talosmith-project-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(root, "environments", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return use(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The stack of one environment file. */
export function stackOf(text: string, files: Readonly<Record<string, string>> = {}): StackJson {
  return withProject({ ...files, "sample.yaml": text }, (root) =>
    withSynth(root, ["sample"], (result, read) => {
      const [failure] = result.failures;
      if (failure !== undefined) throw failure.error;
      return JSON.parse(read("sample")) as StackJson;
    }),
  );
}

/** The values of all resources by their addresses, as far as they are known before an apply; others are `unknown`. */
export function instancesOf(stack: object): ReadonlyMap<string, Values> {
  return new Map(evaluateStack(stack as JsonObject).map(({ address, values }) => [address, values]));
}

/** What one resource will be, by an address such as `libvirt_domain.worker["w-2"]`. */
export function instance(stack: object, address: string): Values {
  const values = instancesOf(stack).get(address);
  if (values === undefined) throw new Error(`the stack has no ${address}`);
  return values;
}

/** The machines that the cluster resource has, by their names. */
export function machinesOf(
  stack: object,
  cluster = "talosmith_cluster.cluster",
): Readonly<Record<string, MachineValues>> {
  return instance(stack, cluster).machines as unknown as Record<string, MachineValues>;
}

/** What the cluster resource says of one machine. */
export function machineOf(stack: object, name: string): MachineValues {
  const machine = machinesOf(stack)[name];
  if (machine === undefined) throw new Error(`the stack has no machine ${name}`);
  return machine;
}

type Values = Readonly<Record<string, Value>>;

interface MachineValues {
  readonly address: string;
  readonly patches?: readonly string[];
  readonly patch_files?: readonly string[];
}
