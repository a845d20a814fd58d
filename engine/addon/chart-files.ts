// SPDX-License-Identifier: Apache-2.0
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { given } from "../../talos/given.ts";
import { withTemporaryFolder } from "../../talos/process-folder.ts";
import { parseYaml, stringifyYaml, toPlainData } from "../../talos/yaml/index.ts";
import type { Addon } from "./addon.ts";
import type { Helm } from "./helm.ts";

/** What helm needs to find a chart and its values. All that is secret is in files for their owner alone. */
export interface ChartFiles {
  /** The chart and the flags that go with it. */
  readonly args: readonly string[];
  /** Words that must not be repeated in an error. */
  readonly secrets: readonly string[];
}

const repositoryName = "addon";

/** Writes the files, lends them to the work, and takes them away whatever happens. */
export function withChartFiles<T>(
  addon: Addon,
  helm: Helm,
  work: (files: ChartFiles) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withTemporaryFolder("helm", async (folder) => {
    const write = async (name: string, content: string): Promise<string> => {
      // Nobody else reads this folder, and nobody needs the file after this process: it need not be synced to disk.
      await writeFile(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };
    const { credentials, version } = addon;
    const secrets = [...(credentials === undefined ? [] : [credentials.password]), ...addon.values.flatMap(longTexts)];
    const values: string[] = [];
    for (const [index, text] of addon.values.entries())
      values.push("--values", await write(`values-${index}.yaml`, text));
    const where = await source(addon, helm, write, folder, { secrets, ...given({ signal }) });
    const args = [...where, ...(version === undefined ? [] : ["--version", version]), ...values];
    return work({ args, secrets });
  });
}

async function source(
  { chart, repository, credentials }: Addon,
  helm: Helm,
  write: (name: string, content: string) => Promise<string>,
  folder: string,
  options: { readonly secrets: readonly string[]; readonly signal?: AbortSignal },
): Promise<readonly string[]> {
  if (chart.startsWith("oci://")) {
    if (credentials === undefined) return [chart];
    const auth = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
    const host = new URL(chart).host;
    const file = await write("registry.json", JSON.stringify({ auths: { [host]: { auth } } }));
    return [chart, "--registry-config", file];
  }
  if (repository === undefined) return [chart];
  // A list of repositories of its own: what the user's helm knows stays as it is.
  const entry = { name: repositoryName, url: repository, ...credentials };
  const list = stringifyYaml({ apiVersion: "v1", repositories: [entry] });
  const flags = [
    "--repository-config",
    await write("repositories.yaml", list),
    "--repository-cache",
    join(folder, "cache"),
  ];
  await helm.run(["repo", "update", repositoryName, ...flags], options);
  return [`${repositoryName}/${chart}`, ...flags];
}

/** Texts in values that may be secrets: all that are not short. */
function longTexts(yaml: string): readonly string[] {
  const collect = (value: unknown): readonly string[] => {
    if (typeof value === "string") return value.length >= 8 ? [value] : [];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(collect) : [];
  };
  return parseYaml(yaml, "values").flatMap((document) => collect(toPlainData(document)));
}
