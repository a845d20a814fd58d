// SPDX-License-Identifier: Apache-2.0
import { posix } from "node:path";
import { lineOfKey, type PatchPlace } from "../../talos/config/index.ts";
import { type Data, dataAt, isData, parseYaml } from "../../talos/yaml/index.ts";
import { type Environment, machinesOf, type Role } from "./environment.ts";
import { environmentFile } from "./parse-environment.ts";
import { patchText } from "./patch-text.ts";
import type { ReadFile } from "./references.ts";
import { type Path, YamlSource } from "./yaml-source.ts";

/** A list of config patches that an environment is made of, in the file that has it. */
export interface PatchList {
  readonly file: string;
  /** Where in that file. */
  readonly path: Path;
  /** Where in the environment. */
  readonly place: Path;
  /** Of the machines that it is for. */
  readonly roles: readonly Role[];
}

/** Every list of patches of an environment: its own, those of its base where it does not replace them, those of its pools. */
export function patchLists(environment: Environment, read: ReadFile): readonly PatchList[] {
  const [own, base] = [environmentFile(environment.name), environmentFile("base")].map((file) => source(file, read));
  const layers = [own, base].filter((layer) => layer !== undefined);
  const lists: PatchList[] = [];
  /** What the environment says at a path is what the first file that has it says. */
  const layerWith = (path: Path) => layers.find((layer) => dataAt(layer.value, path) !== undefined);
  const add = (place: Path, roles: readonly Role[]) => {
    const layer = layerWith(place);
    if (layer !== undefined && Array.isArray(dataAt(layer.value, place)))
      lists.push({ file: layer.file, path: place, place, roles });
  };
  const addPool = (place: Path, reference: Path, roles: readonly Role[]) => {
    const layer = layerWith(reference);
    const name = dataAt(layer?.value, reference);
    if (layer === undefined || typeof name !== "string") return add([...place, "patches"], roles);
    const pool = source(fileBeside(layer.file, name), read);
    if (pool !== undefined && Array.isArray(dataAt(pool.value, ["patches"])))
      lists.push({ file: pool.file, path: ["patches"], place: [...place, "patches"], roles });
  };
  const named = (path: Path) => [...new Set(layers.flatMap((layer) => Object.keys(dataOf(layer.value, path))))];
  const roles = new Map(machinesOf(environment).map(({ name, role }) => [name, role]));
  const rolesOf = (machine: string): readonly Role[] => [roles.get(machine) ?? "worker"];

  const both: readonly Role[] = environment.controlPlane === undefined ? ["worker"] : ["controlplane", "worker"];
  add(["cluster", "patches", "all"], both);
  add(["cluster", "patches", "controlPlane"], ["controlplane"]);
  add(["cluster", "patches", "worker"], ["worker"]);
  addPool(["controlPlane"], ["controlPlaneRef"], ["controlplane"]);
  const pools = dataAt(layerWith(["workers"])?.value, ["workers"]);
  for (const index of (Array.isArray(pools) ? pools : []).keys())
    addPool(["workers", index], ["workers", index, "workerRef"], ["worker"]);
  for (const machine of named(["infrastructure", "machines"]))
    add(["infrastructure", "machines", machine, "patches"], rolesOf(machine));
  for (const machine of named(["cluster", "patches", "machines"]))
    add(["cluster", "patches", "machines", machine], rolesOf(machine));
  return lists;
}

/** The file that an item `{ configRef: ./file.yaml }` of a list names; undefined for any other item. */
export function referencedPatch(
  { file, path }: Pick<PatchList, "file" | "path">,
  index: number,
  read: ReadFile,
): string | undefined {
  const item = dataAt(source(file, read)?.value, [...path, index]);
  return isData(item) && typeof item.configRef === "string" ? fileBeside(file, item.configRef) : undefined;
}

/** Where a person wrote what a patch sets: `environments/lab.yaml:12`. Undefined for patches that no file of these has. */
export function placeOfPatch(environment: Environment, read: ReadFile, place: PatchPlace): string | undefined {
  for (const { file, path } of patchLists(environment, read)) {
    const layer = source(file, read);
    const items = dataAt(layer?.value, path);
    for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
      const referenced = referencedPatch({ file, path }, index, read);
      if (referenced !== undefined) {
        if (read(referenced) === place.patch) return `${referenced}:${lineInText(place)}`;
        continue;
      }
      const node = layer?.node([...path, index]);
      if (node === undefined || patchText(item) !== place.patch) continue;
      if (node.kind === "mapping") return `${file}:${lineOfKey(node, place.keys) ?? node.line}`;
      // Behind `|` the text begins on the next line.
      const isBlock = place.patch.trimEnd().includes("\n");
      return `${file}:${isBlock ? node.line + lineInText(place) : node.line}`;
    }
  }
  return undefined;
}

function lineInText({ patch, document, keys }: PatchPlace): number {
  const node = parseYaml(patch, "patch")[document];
  return (node && lineOfKey(node, keys)) ?? 1;
}

function fileBeside(file: string, reference: string): string {
  return posix.normalize(posix.join(posix.dirname(file), reference));
}

function source(file: string, read: ReadFile): YamlSource | undefined {
  const text = read(file);
  return text === undefined ? undefined : YamlSource.parse(file, text);
}

function dataOf(value: unknown, path: Path): Data {
  const found = dataAt(value, path);
  return isData(found) ? found : {};
}
