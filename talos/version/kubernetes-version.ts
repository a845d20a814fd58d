// SPDX-License-Identifier: Apache-2.0
import semver from "semver";
import { releases } from "./releases.ts";
import { parseSemanticVersion, type SemanticVersion } from "./semantic-version.ts";

export class KubernetesVersion {
  readonly #version: SemanticVersion;

  private constructor(version: SemanticVersion) {
    this.#version = version;
  }

  /** Reads `1.36.3` or `v1.36.3`. Throws when the text is no exact version. */
  static parse(text: string): KubernetesVersion {
    return new KubernetesVersion(parseSemanticVersion(text, "an exact Kubernetes", "1.36.3", newestKubernetesOf(text)));
  }

  get major(): number {
    return this.#version.major;
  }

  get minor(): number {
    return this.#version.minor;
  }

  get patch(): number {
    return this.#version.patch;
  }

  /** The tag that images carry: `v1.36.3`. */
  get tag(): string {
    return `v${this.#version.text}`;
  }

  /** Without `v`, as Talos writes it. */
  toString(): string {
    return this.#version.text;
  }

  /** Negative when this version is older than the other, 0 when the same, positive when newer. */
  compare(other: KubernetesVersion): number {
    return semver.compare(this.#version.text, other.#version.text);
  }

  /** Within a minor release the components and their data are compatible, so a patch release can be rolled back. */
  canRollBackTo(previous: KubernetesVersion): boolean {
    return this.major === previous.major && this.minor === previous.minor && this.patch > previous.patch;
  }

  /** Kubernetes components may be upgraded within a minor release or to the next one. */
  canUpgradeTo(next: KubernetesVersion): boolean {
    return this.major === next.major && (next.minor === this.minor || next.minor === this.minor + 1);
  }
}

/** The Kubernetes version that each known Talos release brings, oldest first. */
export const knownKubernetesVersions: readonly string[] = releases.map(({ defaultKubernetes }) => defaultKubernetes);

/** The newest release known of what `1.36` or `v1.36` names: one that a Talos release brings. Undefined for all else. */
export function newestKubernetesOf(text: string): string | undefined {
  const minor = /^v?(1\.\d+)$/.exec(text)?.[1];
  return releases.findLast((known) => known.defaultKubernetes.startsWith(`${minor}.`))?.defaultKubernetes;
}
