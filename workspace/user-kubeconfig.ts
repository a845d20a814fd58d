// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, resolve } from "node:path";
import * as z from "zod";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";
import { fileError } from "../talos/file-error.ts";
import { compactLayout, parseYamlDocument, stringifyYaml, toPlainData, type YamlValue } from "../talos/yaml/index.ts";
import type { WorkspaceContext } from "./context.ts";

/** Which file it is: `path`, else one of KUBECONFIG, else ~/.kube/config. */
export interface UserKubeconfig extends Pick<WorkspaceContext, "env" | "cwd"> {
  readonly path?: string;
}

/**
 * Puts the cluster of a kubeconfig, as Talos writes it, into the user's own one and makes it the current context, as
 * kind and k3d do. An earlier cluster of the same name is replaced.
 */
export async function mergeIntoUserKubeconfig(
  own: string,
  where: UserKubeconfig,
): Promise<{ readonly path: string; readonly context: string }> {
  const paths = pathsOf(where);
  const present = await Promise.all(paths.map(async (path) => (await textIfThere(path)) !== undefined));
  const path = paths[present.indexOf(true)] ?? paths.at(-1) ?? "";
  return locked(path, async () => {
    const { text, context } = mergeKubeconfig((await textIfThere(path)) ?? "", own, path);
    await writeFileAtomically(path, text);
    return { path, context };
  });
}

/** Takes the cluster of a kubeconfig out of every file of the user's. Which files it was in. */
export async function removeFromUserKubeconfig(own: string, where: UserKubeconfig): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const path of pathsOf(where)) {
    const before = await textIfThere(path);
    // Nothing is locked, nor made, where nothing is to be done.
    if (before === undefined || withoutKubeconfig(before, own, path) === undefined) continue;
    await locked(path, async () => {
      const text = withoutKubeconfig((await textIfThere(path)) ?? "", own, path);
      if (text === undefined) return;
      await writeFileAtomically(path, text);
      changed.push(path);
    });
  }
  return changed;
}

function pathsOf({ path, env, cwd }: UserKubeconfig): readonly string[] {
  if (path !== undefined) return [resolve(cwd, path)];
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((entry) => entry !== "");
  if (listed.length > 0) return listed.map((entry) => resolve(cwd, entry));
  return [resolve(env.HOME ?? homedir(), ".kube/config")];
}

/** Does the work with the lock that kubectl, kind and others take. */
async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await writeFileAtomically(lock, "", { exclusive: true }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw fileError(
      "write",
      lock,
      cause,
      "Another program writes the kubeconfig. Try again; remove the file if none does.",
    );
  });
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

const entry = z.looseObject({ name: z.string() });
const list = z.array(entry).nullish();
const schema = z.looseObject({
  clusters: list,
  users: list,
  contexts: list,
  "current-context": z.string().nullish(),
});
type Kubeconfig = z.infer<typeof schema>;
type Entry = z.infer<typeof entry>;

const lists = ["clusters", "users", "contexts"] as const;

/** The text `before` with everything of `own`, whose context becomes the current one. Errors name `file`. */
export function mergeKubeconfig(before: string, own: string, file: string) {
  const [kept, added] = [read(before, file), read(own, "kubeconfig")];
  const merged: Kubeconfig = { ...added, ...kept, "current-context": added["current-context"] };
  for (const name of lists) merged[name] = [...without(kept[name], added[name]), ...(added[name] ?? [])];
  return { text: textOf(merged), context: added["current-context"] ?? "" };
}

/** The text `before` without what `own` has; undefined where it has nothing of that cluster. Errors name `file`. */
export function withoutKubeconfig(before: string, own: string, file: string): string | undefined {
  const [kept, removed] = [read(before, file), read(own, "kubeconfig")];
  if (!isSameCluster(kept.clusters ?? [], removed.clusters ?? [])) return undefined;
  const left: Kubeconfig = { ...kept };
  for (const name of lists) left[name] = without(kept[name], removed[name]);
  if (kept["current-context"] === removed["current-context"]) left["current-context"] = "";
  return textOf(left);
}

const without = (entries: Kubeconfig["clusters"], others: Kubeconfig["clusters"]): Entry[] =>
  (entries ?? []).filter(({ name }) => !others?.some((other) => other.name === name));

/** Names are free to choose; the CA is the cluster's own. */
function isSameCluster(kept: readonly Entry[], [own]: readonly Entry[]): boolean {
  const found = kept.find(({ name }) => name === own?.name);
  return found !== undefined && caOf(found) === caOf(own);
}

function caOf(cluster: Entry | undefined): unknown {
  return (cluster?.cluster as Readonly<Record<string, unknown>> | undefined)?.["certificate-authority-data"];
}

function read(text: string, file: string): Kubeconfig {
  const data = toPlainData(parseYamlDocument(text, file)) ?? {};
  const { success, data: kubeconfig } = schema.safeParse(data);
  if (success) return kubeconfig;
  throw new TalosError("invalid-input", `${file} is not a kubeconfig`, {
    hint: "Expected lists named clusters, users and contexts. Correct the file, or name another one.",
  });
}

/** In the form of kubectl. */
const textOf = (kubeconfig: Kubeconfig): string => stringifyYaml(kubeconfig as unknown as YamlValue, compactLayout);
