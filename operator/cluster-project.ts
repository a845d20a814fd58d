// SPDX-License-Identifier: Apache-2.0
// The objects of a namespace as a project on disk: its folder may be lost at any time, for everything lasting is in the API.
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { KubernetesApi } from "../engine/index.ts";
import { type Environment, loadEnvironment, loadExistingEnvironment } from "../model/index.ts";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";
import { openWatchedProject, type WatchedProject } from "../watch/index.ts";
import type { WorkspaceContext } from "../workspace/context.ts";
import { recordedMachines, recordMachines } from "../workspace/machine-record.ts";
import { Workspace } from "../workspace/workspace.ts";
import { idFrom, keyOf } from "./api/objects.ts";
import { clusterSecret, secretPatches } from "./cluster-secrets.ts";
import { environmentText, withAddonAlone } from "./environment.ts";
import type { AddonObject } from "./kinds/addon.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import type { PoolObject } from "./kinds/pool.ts";

interface ClusterProjectsOptions {
  /** Folder of the operator's own. */
  readonly folder: string;
  readonly api: KubernetesApi;
  readonly context: WorkspaceContext;
  readonly cluster: (key: string) => ClusterObject | undefined;
  /** Releases that objects ask for, by the key of their cluster. */
  readonly releases: (key: string) => readonly { readonly name: string; readonly namespace: string }[];
  /** The pools of a namespace by name. */
  readonly pools: (namespace: string) => ReadonlyMap<string, PoolObject>;
}

/** One cluster, opened. */
export interface OpenCluster {
  readonly environment: Environment;
  readonly project: WatchedProject;
  readonly workspace: (signal: AbortSignal) => Workspace;
}

export class ClusterProjects {
  readonly #options: ClusterProjectsOptions;
  readonly #projects = new Map<string, { readonly root: string; readonly project: WatchedProject }>();

  constructor(options: ClusterProjectsOptions) {
    this.#options = options;
  }

  /** Writes the environment file and reads it. Throws with everything that is wrong with the spec. */
  async open(cluster: ClusterObject): Promise<OpenCluster> {
    const { root, project } = await this.#written(cluster);
    return this.#opened(root, project, project.load(cluster.metadata.name), cluster);
  }

  /** The cluster with one add-on and no other. */
  async openWithAddon(cluster: ClusterObject, addon: AddonObject): Promise<OpenCluster> {
    const { root, project, text } = await this.#written(cluster);
    const { name } = cluster.metadata;
    const alone = new Map([[fileOf(name), withAddonAlone(text, addon)]]);
    return this.#opened(root, project, loadEnvironment(root, name, alone), cluster);
  }

  /** The same for a cluster that is to go: a broken rule does not keep it. */
  async openExisting(cluster: ClusterObject): Promise<OpenCluster> {
    const { root, project } = await this.#written(cluster);
    return this.#opened(root, project, loadExistingEnvironment(root, cluster.metadata.name), cluster);
  }

  /** Removes what the folder has of a cluster. */
  async forget(key: string): Promise<void> {
    const { namespace, name } = idFrom(key);
    const root = this.#projects.get(namespace)?.root;
    if (root === undefined) return;
    await rm(join(root, fileOf(name)), { force: true });
    await rm(join(root, patchFileOf(name)), { force: true });
    await rm(join(root, "generated", name), { recursive: true, force: true });
  }

  async #written(cluster: ClusterObject) {
    const { namespace, name } = cluster.metadata;
    const opened = this.#projectOf(namespace);
    const patches = await secretPatches(this.#options.api, cluster);
    if (patches !== undefined) await writeIfOther(join(opened.root, patchFileOf(name)), patches);
    const patchFiles = patches === undefined ? [] : [patchFileOf(name)];
    const text = environmentText(cluster, this.#options.pools(namespace), patchFiles);
    await writeIfOther(join(opened.root, fileOf(name)), text);
    return { ...opened, text };
  }

  async #opened(
    root: string,
    project: WatchedProject,
    environment: Environment,
    cluster: ClusterObject,
  ): Promise<OpenCluster> {
    await restoreRecord(root, environment, cluster);
    const workspace = (signal: AbortSignal) =>
      new Workspace({ root, environment, context: { ...this.#contextOf(root), signal } });
    return { environment, project, workspace };
  }

  #projectOf(namespace: string) {
    const known = this.#projects.get(namespace);
    if (known !== undefined) return known;
    const root = join(this.#options.folder, namespace);
    mkdirSync(join(root, "environments"), { recursive: true, mode: 0o700 });
    const opened = { root, project: openWatchedProject(root, [], this.#contextOf(root)) };
    this.#projects.set(namespace, opened);
    return opened;
  }

  #contextOf(root: string): WorkspaceContext {
    const { context, api, cluster, folder, releases } = this.#options;
    const namespace = root.slice(folder.length + 1);
    const keptSecret = (name: string) => {
      const object = cluster(keyOf({ namespace, name }));
      if (object === undefined) throw new TalosError("not-found", `there is no TalosCluster ${name}`);
      return clusterSecret(api, object);
    };
    const otherReleases = (name: string) => releases(keyOf({ namespace, name }));
    return { ...context, cwd: root, env: { ...context.env, TALOSMITH_ROOT: root }, keptSecret, otherReleases };
  }
}

const fileOf = (name: string) => join("environments", `${name}.yaml`);
const patchFileOf = (name: string) => join("secrets", `${name}.patches.yaml`);

async function writeIfOther(file: string, text: string): Promise<void> {
  if ((await textIfThere(file)) !== text) await writeFileAtomically(file, text);
}

/** Which metal machines belong to the cluster is in its status: one that left the spec while no operator ran is found. */
async function restoreRecord(root: string, environment: Environment, { status }: ClusterObject): Promise<void> {
  if (environment.kind !== "metal" || status.members === undefined) return;
  if ((await recordedMachines(root, environment.name)).length > 0) return;
  await recordMachines(root, environment, status.members);
}
