// SPDX-License-Identifier: Apache-2.0

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import { removeAbandoned, withTemporaryFolder } from "../../talos/process-folder.ts";
import { parseYaml, stringifyYaml, toPlainData } from "../../talos/yaml/index.ts";
import { type Addon, addonHash } from "./addon.ts";
import { flag, type Helm } from "./helm.ts";
import { type Release, type ReleaseId, Releases } from "./release.ts";
import { aloneOn } from "./release-lock.ts";
import { namingStuckPods } from "./stuck-pods.ts";

export interface AddonOptions {
  readonly helm: Helm;
  /** Path of an admin kubeconfig. */
  readonly kubeconfig: string;
  readonly signal?: AbortSignal;
}

export type AddonState = "up to date" | "to install" | "to change" | "to repair";

const label = "talosmith-hash";
const usualTimeout = 10 * 60_000;

/** What an apply would do to one add-on, and the release that is there now. */
export async function addonState(
  addon: Addon,
  options: AddonOptions,
): Promise<{ readonly state: AddonState; readonly release: Release | undefined }> {
  const releases = releasesOf(options);
  const release = await releases.find(addon);
  if (release === undefined || release.status === "uninstalled") return { state: "to install", release: undefined };
  if (release.status !== "deployed") return { state: "to repair", release };
  const same = await releaseWithHash(addon, addonHash(addon), options);
  return { state: same?.revision === release.revision ? "up to date" : "to change", release };
}

/** The release when its present revision was made from a wish with this hash. */
export function releaseWithHash(id: ReleaseId, hash: string, options: AddonOptions): Promise<Release | undefined> {
  return releasesOf(options).find(id, `${label}=${hash}`);
}

/**
 * Installs or upgrades one release and waits until it is ready. When it does not become so, helm goes back to the
 * revision before, or takes a first install away again. What a killed helm left unfinished is mended first.
 */
export async function applyAddon(
  addon: Addon,
  options: AddonOptions,
): Promise<{ readonly changed: boolean; readonly release: Release }> {
  // Also where nothing is left to apply: a killed run may have left values with secrets.
  removeAbandoned();
  return changing(addon, options, (releases) => applyAlone(addon, options, releases));
}

async function applyAlone(
  addon: Addon,
  options: AddonOptions,
  releases: Releases,
): Promise<{ readonly changed: boolean; readonly release: Release }> {
  const { state, release } = await addonState(addon, options);
  if (state === "up to date" && release !== undefined) return { changed: false, release };
  if (release !== undefined) await mend(release, releases);
  const seconds = Math.ceil((addon.timeout ?? usualTimeout) / 1000);
  const flags = [
    "--install",
    "--create-namespace",
    "--timeout",
    `${seconds}s`,
    "--labels",
    `${label}=${addonHash(addon)}`,
    // The values of the wish and nothing that an earlier one has left.
    "--reset-values",
  ];
  if (addon.wait !== false) flags.push("--atomic");
  await withChartFiles(
    addon,
    options.helm,
    ({ args, secrets }) =>
      namingStuckPods(addon, options.kubeconfig, () =>
        releases.run(["upgrade", addon.name, ...args, ...flags], addon, secrets),
      ),
    options.signal,
  );
  const now = await releases.find(addon);
  if (now === undefined) throw new TalosError("internal", `${addon.name} is not there after helm upgrade`);
  return { changed: true, release: now };
}

/** A helm that was killed leaves its release pending or uninstalling, and the next upgrade refuses to touch it. */
async function mend(release: Release, releases: Releases): Promise<void> {
  if (release.status === "uninstalling") return remove(release, releases);
  if (!release.status.startsWith("pending-")) return;
  const good = (await releases.history(release)).findLast(
    ({ status }) => status === "deployed" || status === "superseded",
  );
  if (good === undefined) await remove(release, releases);
  else await releases.run(["rollback", release.name, String(good.revision)], release);
}

/** All of them in their order, each ready before the next. */
export async function applyAddons(
  addons: readonly Addon[],
  options: AddonOptions,
  tell: (addon: Addon, outcome: "begun" | "changed" | "unchanged") => void = () => {},
): Promise<readonly Release[]> {
  const done: Release[] = [];
  for (const addon of addons) {
    tell(addon, "begun");
    const { changed, release } = await applyAddon(addon, options);
    tell(addon, changed ? "changed" : "unchanged");
    done.push(release);
  }
  return done;
}

/** Goes back to a revision, or to the one before this. */
export async function rollbackAddon(
  addon: ReleaseId & Pick<Addon, "timeout">,
  revision: number | undefined,
  options: AddonOptions,
): Promise<Release> {
  const seconds = Math.ceil((addon.timeout ?? usualTimeout) / 1000);
  const to = revision === undefined ? [] : [String(revision)];
  const now = await changing(addon, options, async (releases) => {
    await releases.run(["rollback", addon.name, ...to, "--wait", "--timeout", `${seconds}s`], addon);
    return releases.find(addon);
  });
  if (now === undefined) throw new TalosError("internal", `${addon.name} is not there after helm rollback`);
  return now;
}

/** Takes a release away with all that it brought; one that is not there is fine. */
export async function removeAddon(addon: ReleaseId, options: AddonOptions): Promise<void> {
  await changing(addon, options, (releases) => remove(addon, releases));
}

/** Waits for the end of its objects: those of a next install would be taken for them. */
async function remove(release: ReleaseId, releases: Releases): Promise<void> {
  await releases.run(["uninstall", release.name, "--ignore-not-found", "--wait"], release);
}

/** Releases that an earlier wish of ours has made and this one does not name any more. */
export async function surplusAddons(wished: readonly ReleaseId[], options: AddonOptions): Promise<readonly Release[]> {
  const ours = await releasesOf(options).all(label);
  return ours.filter(({ name, namespace }) => !wished.some((w) => w.name === name && w.namespace === namespace));
}

export function releasesOf({ helm, kubeconfig, signal }: AddonOptions): Releases {
  return new Releases(helm, kubeconfig, { signal });
}

/** For work that changes a release: alone on it, and after whatever helm a killed run has left. */
function changing<T>(
  id: ReleaseId,
  { helm, kubeconfig, signal }: AddonOptions,
  work: (releases: Releases) => Promise<T>,
): Promise<T> {
  return aloneOn(id, kubeconfig, (started) => work(new Releases(helm, kubeconfig, { signal, started })));
}

/** What helm needs to find a chart and its values. All that is secret is in files for their owner alone. */
interface ChartFiles {
  /** The chart and the flags that go with it. */
  readonly args: readonly string[];
  /** Words that must not be repeated in an error. */
  readonly secrets: readonly string[];
}

const repositoryName = "addon";

/** Writes the files, lends them to the work, and takes them away whatever happens. */
function withChartFiles<T>(
  addon: Addon,
  helm: Helm,
  work: (files: ChartFiles) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withTemporaryFolder("helm", async (folder) => {
    const write = async (name: string, content: string): Promise<string> => {
      // Only this process reads the folder, and it removes the file when it ends: no need to sync it to disk.
      await writeFile(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };
    const { credentials, version } = addon;
    const secrets = [credentials?.password, ...addon.values.flatMap(longTexts)].filter(isGiven);
    const values: string[] = [];
    for (const [index, text] of addon.values.entries())
      values.push("--values", await write(`values-${index}.yaml`, text));
    const where = await source(addon, helm, write, folder, { secrets, signal });
    return work({ args: [...where, ...flag("--version", version), ...values], secrets });
  });
}

async function source(
  { chart, repository, credentials }: Addon,
  helm: Helm,
  write: (name: string, content: string) => Promise<string>,
  folder: string,
  options: { readonly secrets: readonly string[]; readonly signal: AbortSignal | undefined },
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
