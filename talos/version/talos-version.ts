// SPDX-License-Identifier: Apache-2.0
import semver from "semver";
import { TalosError } from "../errors.ts";
import { Contract } from "./contract.ts";
import { KubernetesVersion } from "./kubernetes-version.ts";
import { defaultRelease, type Release, releaseOf } from "./release.ts";
import { parseSemanticVersion, type SemanticVersion } from "./semantic-version.ts";

/** One Talos release, or a candidate for one. What it can run and be upgraded from depends on its minor alone. */
export class TalosVersion {
  readonly #version: SemanticVersion;
  readonly #release: Release;
  readonly contract: Contract;

  private constructor(version: SemanticVersion, release: Release, contract: Contract) {
    this.#version = version;
    this.#release = release;
    this.contract = contract;
  }

  /** Reads `v1.13.9` or `1.13.9`. Throws when the text is no version or the minor release is not known. */
  static parse(text: string): TalosVersion {
    const version = parseSemanticVersion(text, "Talos", defaultRelease);
    const contract = Contract.parse(version.text);
    const release = releaseOf(version.minor);
    if (release === undefined) throw new TalosError("internal", `no release data for Talos ${text}`);
    return new TalosVersion(version, release, contract);
  }

  /** The newest known release of a contract. */
  static newestOf(contract: Contract): TalosVersion {
    const release = releaseOf(Number(contract.toString().slice("v1.".length)));
    if (release === undefined) throw new TalosError("internal", `no release data for ${contract.toString()}`);
    return TalosVersion.parse(release.newest);
  }

  toString(): string {
    return `v${this.#version.text}`;
  }

  equals(other: TalosVersion): boolean {
    return this.toString() === other.toString();
  }

  /** Negative when this release is older than the other, 0 when the same, positive when newer. */
  compare(other: TalosVersion): number {
    return semver.compare(this.#version.text, other.#version.text);
  }

  /** The Kubernetes version that this release installs when none is named, without `v`. */
  get defaultKubernetesVersion(): string {
    return this.#release.defaultKubernetes;
  }

  supportsKubernetes(version: KubernetesVersion | string): boolean {
    return this.#kubernetesFault(version) === undefined;
  }

  /** Throws, in Talos's words, when this release cannot run that Kubernetes version. */
  requireKubernetes(version: KubernetesVersion | string): void {
    const fault = this.#kubernetesFault(version);
    if (fault === undefined) return;
    const { oldestKubernetesMinor, newestKubernetesMinor } = this.#release;
    throw new TalosError(
      "invalid-input",
      `version of Kubernetes ${version.toString()} is ${fault} to be used with Talos ${this.#version.text}`,
      { hint: `Use Kubernetes 1.${oldestKubernetesMinor} to 1.${newestKubernetesMinor}, or another Talos release.` },
    );
  }

  /** Throws, in Talos's words, when a machine that runs `host` cannot be moved to this release in one step. */
  requireUpgradeFrom(host: TalosVersion): void {
    const { upgradableFromMinor, downgradableBelowMinor } = this.#release;
    const [from, to] = [host.toString().slice(1), this.#version.text];
    if (host.#version.minor < upgradableFromMinor) {
      throw new TalosError("failed-precondition", `host version ${from} is too old to upgrade to Talos ${to}`, {
        hint: `Upgrade to a release between 1.${upgradableFromMinor} and this one first.`,
      });
    }
    if (host.#version.minor >= downgradableBelowMinor) {
      throw new TalosError("failed-precondition", `host version ${from} is too new to downgrade to Talos ${to}`, {
        hint: `Downgrade to a release below 1.${downgradableBelowMinor} first.`,
      });
    }
  }

  #kubernetesFault(version: KubernetesVersion | string): "too old" | "too new" | undefined {
    const { major, minor, patch } = typeof version === "string" ? KubernetesVersion.parse(version) : version;
    const { oldestKubernetesMinor, newestKubernetesMinor } = this.#release;
    if (major < 1 || (major === 1 && minor < oldestKubernetesMinor)) return "too old";
    // The upper bound upstream is 1.NN.99, exclusive.
    const beyond = minor > newestKubernetesMinor || (minor === newestKubernetesMinor && patch >= 99);
    return major > 1 || beyond ? "too new" : undefined;
  }
}

export const defaultTalosVersion: TalosVersion = TalosVersion.parse(defaultRelease);
