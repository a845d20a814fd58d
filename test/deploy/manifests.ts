// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string }[];
  readonly resources: unknown;
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface Pod {
  readonly securityContext: unknown;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

/** As much of a Kubernetes object as the tests look into. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly replicas?: number; readonly template?: { readonly spec: Pod } };
  readonly rules?: readonly { readonly resourceNames?: readonly string[]; readonly verbs: readonly string[] }[];
  readonly subjects?: readonly { readonly namespace?: string }[];
}

/** The files of a kustomize folder that hold objects. */
export function manifestFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml")
    .map((file) => join(folder, file));
}

export function documentsOf(...files: readonly string[]): readonly Manifest[] {
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest),
  );
}

/** A manifest without what only Helm adds. */
export function plain(manifest: Manifest): unknown {
  const { annotations, ...metadata } = manifest.metadata;
  const labels = Object.entries(metadata.labels ?? {}).filter(
    ([name, value]) => !name.startsWith("helm.sh/") && value !== "Helm",
  );
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith("helm.sh/"));
  const rest = { ...metadata, namespace: undefined, labels: Object.fromEntries(labels) };
  const subjects = manifest.subjects?.map((subject) => ({ ...subject, namespace: undefined }));
  return { ...manifest, metadata: { ...rest, ...(kept.length === 0 ? {} : { annotations: kept }) }, subjects };
}
