// SPDX-License-Identifier: Apache-2.0
import { isCollection, isMap, isScalar, parseDocument } from "yaml";
import { TalosError } from "../errors.ts";
import { controlPlanePool } from "./environment.ts";

type Path = readonly (string | number)[];

/** The text of an environment file with other versions; everything else stays as it is, comments too. */
export function withVersions(
  text: string,
  versions: { readonly talosVersion?: string; readonly kubernetesVersion?: string },
): string {
  const { talosVersion, kubernetesVersion } = versions;
  const first = talosVersion === undefined ? text : withValue(text, ["cluster", "talosVersion"], talosVersion);
  return kubernetesVersion === undefined
    ? first
    : withValue(first, ["cluster", "kubernetesVersion"], kubernetesVersion);
}

/** The same with another number of machines in a pool; the control planes are the pool `cp`. */
export function withCount(text: string, pool: string, count: number): string {
  if (pool === controlPlanePool) return withValue(text, ["controlPlane", "count"], count);
  const workers = parseDocument(text).get("workers");
  const pools = isCollection(workers) ? workers.items : [];
  // A pool without a name is called w.
  const index = pools.findIndex((item) => isMap(item) && (item.get("name") ?? "w") === pool);
  if (index < 0) {
    throw new TalosError("not-found", `the environment's own file has no pool of workers called ${pool}`, {
      hint: "If environments/base.yaml has it, change it there, or write the pools into the environment's file.",
    });
  }
  return withValue(text, ["workers", index, "count"], count);
}

/** A value that is there is replaced in its place, byte by byte; else it is put where it belongs. */
function withValue(text: string, path: Path, value: string | number): string {
  const document = parseDocument(text);
  const node = document.getIn(path, true);
  if (isScalar(node) && node.range) return `${text.slice(0, node.range[0])}${value}${text.slice(node.range[1])}`;
  document.setIn(path, value);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}
