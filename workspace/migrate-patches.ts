// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import {
  type Environment,
  EnvironmentError,
  fileReader,
  listEnvironments,
  listItems,
  loadExistingEnvironment,
  type PatchList,
  patchLists,
  prependItems,
  type ReadFile,
  type Role,
  referencedPatch,
  replaceItems,
} from "../model/index.ts";
import {
  afterPatch,
  type MigratedPatch,
  type MigrationTarget,
  migratePatch,
  patchNodes,
  writeNodes,
} from "../talos/config/migrate/index.ts";
import { parsePatchFile } from "../talos/disk-key-file.ts";
import { openProtectedText } from "../talos/secrets/index.ts";
import type { WorkspaceContext } from "./context.ts";

/** A setting of a patch, where a person has written it. */
export interface PatchPlace {
  readonly file: string;
  readonly line: number;
  /** In the v1alpha1 document. */
  readonly path: string;
}

/** `to`: documents and paths in them; empty where the newer form implies the setting. */
export type MovedSetting = PatchPlace & { readonly to: readonly string[] };
export type LeftSetting = PatchPlace & { readonly reason: string };

const controlPlanePatches = ["cluster", "patches", "controlPlane"];

/** The patches of one cluster in the files of its project, on their way into another form. Nothing is written. */
export class MovingPatches {
  readonly moved: MovedSetting[] = [];
  readonly left: LeftSetting[] = [];
  readonly notes: string[] = [];
  readonly #root: string;
  /** The environment that has the cluster, then those that join it. */
  readonly #environments: readonly Environment[];
  /** What the next list of patches is moved into. */
  #target: MigrationTarget;
  readonly #texts = new Map<string, string>();
  readonly #onDisk: ReadFile;
  readonly #others: readonly Environment[];

  constructor(root: string, environments: readonly Environment[], target: MigrationTarget) {
    this.#root = root;
    this.#environments = environments;
    this.#target = target;
    this.#onDisk = fileReader(root);
    const own = new Set(environments.map(({ name }) => name));
    this.#others = listEnvironments(root).flatMap((name) => (own.has(name) ? [] : readable(root, name)));
  }

  /** Files that are not as they are on the disk, by their paths from the root. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** Puts documents before all other patches of a list. */
  prepend(environment: Environment, place: PatchList["place"], documents: readonly string[]): void {
    if (documents.length === 0) return;
    const list = patchLists(environment, this.#read).find((one) => isSamePath(one.place, place));
    const nothing = new Map<number, readonly string[]>();
    const { file, path } =
      list === undefined ? { file: environment.file, path: place } : this.#change(environment, list, nothing);
    this.#write(file, prependItems(this.#text(file), file, path, documents));
  }

  /** Moves everything that can be moved. */
  async run(env: WorkspaceContext["env"]): Promise<void> {
    const bare = this.#target;
    for (const environment of this.#environments) {
      this.#target = bare;
      const forControlPlanes: string[] = [];
      for (const list of patchLists(environment, this.#onDisk))
        forControlPlanes.push(...this.#moveList(environment, list));
      for (const name of environment.cluster.patchFiles ?? []) await this.#movePatchFile(environment, name, env);
      // In their order, and before those that come after the patches for all machines.
      this.prepend(environment, controlPlanePatches, forControlPlanes);
    }
  }

  /** Gives what only control planes may have of it. */
  #moveList(environment: Environment, list: PatchList): readonly string[] {
    const changes = new Map<number, readonly string[]>();
    const forControlPlanes: string[] = [];
    let target = this.#target;
    // As it is on the disk: reported lines are those of the file that a person sees.
    const items = listItems(this.#onDisk(list.file) ?? "", list.file, list.path) ?? [];
    for (const [index, item] of items.entries()) {
      const reference = referencedPatch(list, index, this.#onDisk);
      const [file, text, line] =
        reference === undefined ? [list.file, item.text, item.line] : [reference, this.#onDisk(reference) ?? "", 1];
      const result = migratePatch(patchNodes(text), list.roles, target);
      target = afterPatch(target, list.roles, result);
      const tell = this.#teller(file, text, line);
      const obstacle = result.moved.length === 0 ? undefined : this.#obstacle(environment, list, reference);
      if (obstacle !== undefined) tell.keep(result, obstacle);
      else tell.move(result);
      if (obstacle !== undefined || result.moved.length === 0) continue;
      const documents = result.documents.map((node) => writeNodes([node]));
      forControlPlanes.push(...result.controlPlane.map((node) => writeNodes([node])));
      if (reference === undefined || documents.length === 0 || this.#isUsedTwice(reference))
        changes.set(index, documents);
      else this.#write(reference, documents.join("---\n"));
      if (reference !== undefined && changes.has(index))
        this.notes.push(
          `${reference} is no longer used by ${environment.name}: its patch is in ${environment.file} now.`,
        );
    }
    if (changes.size > 0) this.#change(environment, list, changes);
    // What is for a pool or a machine does not count for the others.
    if (isForWholeRoles(list)) this.#target = target;
    return forControlPlanes;
  }

  async #movePatchFile(environment: Environment, name: string, env: WorkspaceContext["env"]): Promise<void> {
    const { path, key } = parsePatchFile(name);
    // A passphrase is put into the right form whenever it is read.
    if (key !== undefined) return;
    const text = this.#texts.get(path) ?? (await openProtectedText(join(this.#root, path), env));
    const roles: readonly Role[] = environment.workers.length === 0 ? ["controlplane"] : ["controlplane", "worker"];
    const result = migratePatch(
      patchNodes(text),
      environment.controlPlane === undefined ? ["worker"] : roles,
      this.#target,
    );
    const tell = this.#teller(path, text, 1);
    const others = this.#others.filter(({ cluster }) => cluster.patchFiles?.includes(name));
    const obstacle =
      result.moved.length === 0
        ? undefined
        : text !== this.#onDisk(path)
          ? "the file is encrypted: move it by hand"
          : others.length > 0
            ? `the file is used by ${others.map((other) => other.name).join(", ")}, too: give ${environment.name} a copy`
            : result.controlPlane.length > 0
              ? "only control planes may have it, and a patch file is for every machine"
              : undefined;
    if (obstacle !== undefined) tell.keep(result, obstacle);
    else {
      tell.move(result);
      if (result.moved.length > 0) this.#write(path, writeNodes(result.documents));
    }
  }

  /** Why a patch cannot be changed where it stands. */
  #obstacle(environment: Environment, list: PatchList, reference: string | undefined): string | undefined {
    const others = this.#usersOf(list);
    if (others.length > 0 && !isOfCluster(list))
      return `${list.file} is used by ${others.join(", ")}, too: put the pool's patches into ${environment.file}`;
    if (reference === undefined || list.roles.length === 1) return undefined;
    return this.#isUsedTwice(reference) && this.#hasControlPlaneParts(reference)
      ? "several lists have this file, and a part of it is only for control planes: make a file for each"
      : undefined;
  }

  #hasControlPlaneParts(file: string): boolean {
    const nodes = patchNodes(this.#text(file));
    return migratePatch(nodes, ["controlplane", "worker"], this.#target).controlPlane.length > 0;
  }

  /** Other environments that have the same list. */
  #usersOf({ file, path }: PatchList): readonly string[] {
    return this.#others.flatMap((other) =>
      patchLists(other, this.#onDisk).some((list) => list.file === file && isSamePath(list.path, path))
        ? [other.name]
        : [],
    );
  }

  /** Whether a file with a patch stands in several lists, or in one of another environment. */
  #isUsedTwice(file: string): boolean {
    const uses = [...this.#environments, ...this.#others].flatMap((environment) =>
      patchLists(environment, this.#onDisk).flatMap((list) =>
        (listItems(this.#onDisk(list.file) ?? "", list.file, list.path) ?? []).filter(
          (_, index) => referencedPatch(list, index, this.#onDisk) === file,
        ),
      ),
    );
    return uses.length > 1;
  }

  /** A list of base.yaml that others have, too, stays: the environment gets one of its own. */
  #change(environment: Environment, list: PatchList, changes: ReadonlyMap<number, readonly string[]>): PatchList {
    const text = this.#text(list.file);
    if (list.file === environment.file || this.#usersOf(list).length === 0) {
      this.#write(list.file, replaceItems(text, list.file, list.path, changes));
      return list;
    }
    const items = listItems(text, list.file, list.path) ?? [];
    const documents = items.flatMap(
      (item, index) => changes.get(index) ?? patchNodes(item.text).map((node) => writeNodes([node])),
    );
    const { file } = environment;
    this.#write(file, prependItems(this.#text(file), file, list.place, documents));
    this.notes.push(
      `${list.place.join(".")} of ${list.file} is for other environments, too: ${file} has a list of its own now.`,
    );
    return { ...list, file, path: list.place };
  }

  #teller(file: string, text: string, line: number) {
    const at = (path: string, offset = 0): PatchPlace => ({
      file,
      line: line + text.slice(0, offset).split("\n").length - 1,
      path,
    });
    const leave = ({ left }: MigratedPatch) => {
      for (const { path, offset, reason } of left) this.left.push({ ...at(path, offset), reason });
    };
    return {
      move: (result: MigratedPatch) => {
        for (const { path, offset, to } of result.moved) this.moved.push({ ...at(path, offset), to });
        leave(result);
      },
      keep: (result: MigratedPatch, reason: string) => {
        for (const { path, offset } of result.moved) this.left.push({ ...at(path, offset), reason });
        leave(result);
      },
    };
  }

  readonly #read: ReadFile = (file) => this.#texts.get(file) ?? this.#onDisk(file);

  #text(file: string): string {
    return this.#read(file) ?? "";
  }

  #write(file: string, text: string): void {
    if (text === this.#onDisk(file)) this.#texts.delete(file);
    else this.#texts.set(file, text);
  }
}

/** One whose file has errors is not to be judged. */
function readable(root: string, name: string): readonly Environment[] {
  try {
    return [loadExistingEnvironment(root, name)];
  } catch (error) {
    if (error instanceof EnvironmentError) return [];
    throw error;
  }
}

function isForWholeRoles({ place }: PatchList): boolean {
  return place[0] === "cluster" && place[2] !== "machines";
}

function isOfCluster({ place }: PatchList): boolean {
  return place[0] === "cluster";
}

function isSamePath(left: readonly (string | number)[], right: readonly (string | number)[]): boolean {
  return left.length === right.length && left.every((step, index) => step === right[index]);
}
