// SPDX-License-Identifier: Apache-2.0

/** A resource with what its store adds: version and times. */
export interface StoredResource {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly created: number;
  readonly updated: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly yaml: string;
  readonly proto: Uint8Array;
  /** Of the content, to see changes. */
  readonly hash: string;
}
