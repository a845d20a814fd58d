// SPDX-License-Identifier: Apache-2.0
// What pages take for given: a project, a cluster, programs. Each in a folder of its own.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { projectSimulator } from "../../workspace/simulator.ts";
import { createCheckout } from "../support/checkout.ts";
import { PageShell } from "../support/page-shell.ts";
import { findProgram } from "../support/programs.ts";
import type { Missing, World } from "./walk.ts";

/** Clients of others that readers may have. */
const clients: Readonly<Record<string, string | undefined>> = {
  kubectl: findProgram("kubectl"),
  talosctl: process.env.TALOSMITH_TALOSCTL ?? findProgram("talosctl"),
};
export const terraform: string | undefined = findProgram("terraform") ?? findProgram("tofu");
export const noTerraform: Missing = { missing: "there is neither terraform nor tofu" };

/** The recipient of age in the pages becomes this one, whose key the reader has. */
const pageRecipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
const ageIdentity = await generateIdentity();
const ageRecipient: string = await identityToRecipient(ageIdentity);

export interface ProjectOptions {
  /** Copied from here; else it begins with these files. */
  readonly from?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly programs?: Readonly<Record<string, string | undefined>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly npx?: "checkout" | "npm";
  /** The project is a copy of this checkout. */
  readonly checkout?: boolean;
}

/** A project in an empty folder, without terraform unless that is among the programs. */
export function openProject(options: ProjectOptions = {}): World {
  const { from, checkout = false, files = checkout ? {} : { "cdktf.json": "{}" }, programs, env, npx } = options;
  const folder = mkdtempSync(join(tmpdir(), "talosmith-page-"));
  const root = join(folder, "project");
  mkdirSync(root);
  if (checkout) createCheckout(root);
  if (from !== undefined) cpSync(resolve(from), root, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const shell = new PageShell({
    root,
    programs: { ...clients, ...programs },
    ...(npx === undefined ? {} : { npx }),
    env: {
      TALOSMITH_SIMULATOR_TIME_SCALE: "0.1",
      SOPS_AGE_KEY: ageIdentity,
      SOPS_AGE_RECIPIENTS: ageRecipient,
      ...env,
    },
  });
  return {
    shell,
    put: { [pageRecipient]: ageRecipient },
    async close() {
      if (existsSync(join(root, "generated/.simulator"))) await projectSimulator(root).shutdown();
      await shell.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface ClusterOptions extends Omit<ProjectOptions, "from" | "files"> {
  readonly name?: string;
  /** Further lines of the environment. */
  readonly more?: string;
  /** What it begins with where the page upgrades it. */
  readonly versions?: string;
  /** Lines that a reader has typed before. @default `up`, and the files that pages name */
  readonly first?: readonly string[];
}

/** Environments of this repository, as files of a project. */
export function environments(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [`environments/${name}.yaml`, readFileSync(resolve(`environments/${name}.yaml`), "utf8")]),
  );
}

export const simulated = (versions = "", more = "") =>
  `cluster: { ${versions} }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\nbackup: { directory: backups, schedule: "0 3 * * *", pki: { ageRecipients: [${ageRecipient}] } }\n${more}`;

/** A running cluster on simulated machines. The page's first addresses become those of its machines. */
export async function openCluster(options: ClusterOptions = {}): Promise<World> {
  const { name = "lab", versions, more, first = [`npx talosmith up ${name}`], ...rest } = options;
  const files = { "cdktf.json": "{}", [`environments/${name}.yaml`]: simulated(versions, more) };
  const world = openProject({ files, ...rest });
  try {
    for (const line of first) await world.shell.ok(line);
    const { stdout } = await world.shell.ok(`npx talosmith status ${name} --json`);
    const { machines } = JSON.parse(stdout) as { machines: readonly { readonly address: string }[] };
    const [plane, worker] = machines.map(({ address }) => address);
    if (plane === undefined || worker === undefined) throw new Error(`${name} has too few machines: ${stdout}`);
    writeFileSync(join(world.shell.root, "key.txt"), `${ageIdentity}\n`);
    await world.shell.ok(`export TALOSCONFIG=${world.shell.root}/generated/${name}/talosconfig`);
    return { ...world, put: { ...world.put, "10.0.0.70": plane, "10.0.0.80": worker } };
  } catch (error) {
    await world.close();
    throw error;
  }
}
