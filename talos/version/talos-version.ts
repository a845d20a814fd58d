// SPDX-License-Identifier: Apache-2.0
import semver from "semver";
import { TalosError } from "../errors.ts";
import { Contract } from "./contract.ts";
import { KubernetesVersion, newestKubernetesOf } from "./kubernetes-version.ts";
import { defaultRelease, knownRange, newestRelease, oldestRelease, type Release, releases } from "./releases.ts";
import { exactOf, parseSemanticVersion, type SemanticVersion } from "./semantic-version.ts";

/** One Talos release, or a candidate for one. What it can run and be upgraded from depends on its minor alone. */
export class TalosVersion {
  readonly #version: SemanticVersion;
  /** Of its minor release; of the newest known one when it is newer than that. */
  readonly #release: Release;
  /** The newest contract that it accepts and we can write. */
  readonly contract: Contract;

  private constructor(version: SemanticVersion, release: Release) {
    this.#version = version;
    this.#release = release;
    this.contract = Contract.parse(release.newest);
  }

  /**
   * Reads `v1.13.9` or `1.13.9`; of a minor release that is not known yet, too, see `unknown`. Throws when the text is
   * no exact version, or a release too old.
   */
  static parse(text: string): TalosVersion {
    const version = parseSemanticVersion(text, "an exact Talos", defaultRelease, newestTalosOf(text));
    const { major, minor } = version;
    if (major !== 1 || minor < oldestRelease.minor) {
      throw new TalosError(
        "invalid-input",
        `Talos ${text} is not supported: found ${major}.${minor}, expected ${knownRange}`,
        {
          hint: "Name one of these releases, or a newer 1.x.",
        },
      );
    }
    return new TalosVersion(version, releases.find((known) => known.minor === minor) ?? newestRelease);
  }

  /** Reads what `parse` does, and `1.14` and `latest` as the newest release known. For commands that write the answer down. */
  static resolve(text: string): TalosVersion {
    return TalosVersion.parse(exactOf("Talos", text, newestTalosOf(text)));
  }

  /** The newest known release of a contract. */
  static newestOf(contract: Contract): TalosVersion {
    return TalosVersion.resolve(contract.toString());
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

  /** Whether machines of this release take configs of the contract. */
  accepts(contract: Contract): boolean {
    return contract.includes(this.#release.oldestContractMinor) && contract.compare(this.contract) <= 0;
  }

  /** Whether its minor is newer than all that is known. */
  get isUnknown(): boolean {
    return !this.#isKnown;
  }

  /** What is not known of such a release with configs of the contract, in sentences; undefined for the others. */
  unknownWith(contract: Contract = this.contract): string | undefined {
    if (this.#isKnown) return undefined;
    const { minor, newestKubernetesMinor } = this.#release;
    const newest = contract.equals(this.contract) ? ", the newest known" : "";
    return [
      `Its config is written for the contract ${contract}${newest}.`,
      `Whether it runs Kubernetes above 1.${newestKubernetesMinor}, and fields and documents that are new in it, are not checked.`,
      `It can be upgraded to from 1.${minor}.`,
    ].join(" ");
  }

  /** The Kubernetes version that this release installs when none is named, without `v`. */
  get defaultKubernetesVersion(): string {
    return this.#release.defaultKubernetes;
  }

  /**
   * Reads an exact version of Kubernetes, `1.36` as the newest patch release of it that is known, and `latest` as the
   * newest known that this release runs. For commands that write the answer down. Throws when there is none.
   */
  resolveKubernetes(text: string): KubernetesVersion {
    if (text === "latest") return KubernetesVersion.parse(this.#release.defaultKubernetes);
    return KubernetesVersion.parse(exactOf("Kubernetes", text, newestKubernetesOf(text)));
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
    const { minor, newest, upgradableFromMinor, downgradableBelowMinor } = this.#release;
    const [from, to] = [host.toString().slice(1), this.#version.text];
    if (!this.#isKnown) {
      if (host.#version.minor >= minor) return;
      throw new TalosError("failed-precondition", `whether Talos ${from} can be upgraded to ${to} is not known`, {
        hint: `Upgrade to ${newest} first, or use a talosmith that knows Talos 1.${this.#version.minor}.`,
      });
    }
    if (host.#version.minor < upgradableFromMinor) {
      const next = releases.findLast((known) => known.upgradableFromMinor <= host.#version.minor);
      throw new TalosError("failed-precondition", `host version ${from} is too old to upgrade to Talos ${to}`, {
        hint: next && `Upgrade to ${next.newest} first, the newest that it can be upgraded to.`,
      });
    }
    if (host.#version.minor >= downgradableBelowMinor) {
      throw new TalosError("failed-precondition", `host version ${from} is too new to downgrade to Talos ${to}`, {
        hint: `Downgrade to a release below 1.${downgradableBelowMinor} first.`,
      });
    }
  }

  get #isKnown(): boolean {
    return this.#version.minor === this.#release.minor;
  }

  #kubernetesFault(version: KubernetesVersion | string): "too old" | "too new" | undefined {
    const { major, minor, patch } = typeof version === "string" ? KubernetesVersion.parse(version) : version;
    const { oldestKubernetesMinor, newestKubernetesMinor } = this.#release;
    if (major < 1 || (major === 1 && minor < oldestKubernetesMinor)) return "too old";
    if (!this.#isKnown) return undefined;
    // The upper bound upstream is 1.NN.99, exclusive.
    const beyond = minor > newestKubernetesMinor || (minor === newestKubernetesMinor && patch >= 99);
    return major > 1 || beyond ? "too new" : undefined;
  }
}

/** The newest release known of what `1.14`, `v1.14` or `latest` names; undefined for all else. */
export function newestTalosOf(text: string): string | undefined {
  if (text === "latest") return newestRelease.newest;
  const minor = /^v?1\.(\d+)$/.exec(text)?.[1];
  return releases.find((known) => String(known.minor) === minor)?.newest;
}

/** The newest release of each minor that is known, oldest first. */
export const knownTalosVersions: readonly string[] = releases.map(({ newest }) => newest);

/** The contract of a cluster's configs: the one that was decided, else that of its Talos release. */
export function contractOf(cluster: {
  readonly talosVersion?: string | undefined;
  readonly configContract?: string | undefined;
}): Contract {
  if (cluster.configContract !== undefined) return Contract.parse(cluster.configContract);
  return TalosVersion.parse(cluster.talosVersion ?? defaultRelease).contract;
}

export const defaultTalosVersion: TalosVersion = TalosVersion.parse(defaultRelease);
