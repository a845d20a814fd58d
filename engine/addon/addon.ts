// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { chartCredentialSettings, ValuesOf } from "../../model/settings/index.ts";
import { TalosError } from "../../talos/errors.ts";

/** How a private repository or registry knows us. Never in an argument, a plan or a state. */
interface ChartCredentials {
  readonly username: string;
  readonly password: string;
}

/** A Helm release as it should be. */
export interface Addon {
  /** Name of the release. */
  readonly name: string;
  readonly namespace: string;
  /** Name in the repository, `oci://…`, or a path to a chart. */
  readonly chart: string;
  /** URL of a chart repository. Absent for OCI charts and paths. */
  readonly repository?: string | undefined;
  /** Of the chart. @default the newest */
  readonly version?: string | undefined;
  /** Values as YAML texts, later ones win. They may hold secrets. */
  readonly values: readonly string[];
  readonly credentials?: ChartCredentials | undefined;
  /** Hash of the files of a chart that is given by its path. */
  readonly chartFiles?: string | undefined;
  /** Wait until everything of it is ready, and go back to the revision before when it does not become so. @default true */
  readonly wait?: boolean | undefined;
  /** Milliseconds. @default 10 minutes */
  readonly timeout?: number | undefined;
}

/** Tells two wishes apart without telling what is in them: chart, version and values, not how they are fetched. */
export function addonHash({ chart, repository = "", version = "", values, chartFiles }: Addon): string {
  // A path is another one in every checkout.
  const source = chartFiles ?? chart;
  return createHash("sha256")
    .update(JSON.stringify([source, repository, version, values]))
    .digest("hex")
    .slice(0, 32);
}

/** An add-on as it is written down: what is secret stands elsewhere and is named. */
export interface AddonSources extends Omit<Addon, "values" | "credentials" | "chartFiles"> {
  /** Values as YAML texts. */
  readonly values: readonly string[];
  /** Files with further values, from the root. */
  readonly valuesFiles: readonly string[];
  readonly credentials?: ValuesOf<typeof chartCredentialSettings> | undefined;
}

/** Reads what an add-on names: files of values, its password, and a chart by its path. */
export async function resolveAddon(
  { valuesFiles, credentials, ...addon }: AddonSources,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Addon> {
  const files = await Promise.all(valuesFiles.map((file) => readText(root, file, addon.name)));
  const local = /^\.{1,2}\//.test(addon.chart) ? resolve(root, addon.chart) : undefined;
  return {
    ...addon,
    chart: local ?? addon.chart,
    chartFiles: local && (await hashFiles(local, addon)),
    values: [...addon.values, ...files].filter((text) => text !== ""),
    credentials: credentials && (await readCredentials(credentials, addon.name, root, env)),
  };
}

/** Of all files of a chart, a folder or an archive, by their names. */
async function hashFiles(chart: string, addon: { readonly name: string; readonly chart: string }): Promise<string> {
  const hash = createHash("sha256");
  try {
    const entries = (await stat(chart)).isDirectory()
      ? await readdir(chart, { recursive: true, withFileTypes: true })
      : undefined;
    const files = entries?.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)) ?? [
      chart,
    ];
    for (const file of files.sort()) {
      const content = await readFile(file);
      hash.update(`${relative(chart, file)} ${content.length}\n`).update(content);
    }
    return hash.digest("hex");
  } catch (cause) {
    throw new TalosError("not-found", `add-on ${addon.name}: the chart ${addon.chart} cannot be read`, { cause });
  }
}

async function readCredentials(
  { username, passwordEnv, passwordFile }: NonNullable<AddonSources["credentials"]>,
  name: string,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChartCredentials> {
  if (passwordFile !== undefined) return { username, password: (await readText(root, passwordFile, name)).trim() };
  const password = env[passwordEnv ?? ""];
  if (password) return { username, password };
  throw new TalosError("failed-precondition", `add-on ${name}: the environment variable ${passwordEnv} is not set`, {
    hint: `It holds the password of ${username}. Nothing was changed.`,
  });
}

async function readText(root: string, file: string, name: string): Promise<string> {
  try {
    return await readFile(resolve(root, file), "utf8");
  } catch (cause) {
    throw new TalosError("not-found", `add-on ${name}: ${file} cannot be read`, { cause });
  }
}
