// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import {
  contractFeatures,
  type DefaultChange,
  defaultChanges,
  knownRange,
  newestRelease,
  type Release,
  releaseFeatures,
  releases,
  type Span,
} from "./releases.ts";

/** References of images that follow the Talos release, not the Kubernetes version. */
type ReleaseImages = Pick<Release, "etcd" | "coredns" | "flannel" | "pause" | "networkPolicies">;

const features = { ...contractFeatures, ...releaseFeatures };

/**
 * The Talos minor version that a config is made for. It answers questions by name, so that no other file compares
 * versions; each question is about the form of what we write, not about the machine that reads it.
 */
export class Contract {
  readonly #release: Release;

  private constructor(release: Release) {
    this.#release = release;
  }

  /** Reads `v1.13`, `1.13` or any full version. Throws for a contract that we cannot write. */
  static parse(text: string): Contract {
    const match = /^v?(\d+)\.(\d+)(?:\.\d+(?:-[0-9A-Za-z.-]+)?)?$/.exec(text);
    if (match === null) {
      throw new TalosError("invalid-input", `error parsing version ${JSON.stringify(text)}`, {
        hint: `Write a Talos version such as "v1.13" or "v1.13.9".`,
      });
    }
    const [major, minor] = [Number(match[1]), Number(match[2])];
    const release = major === 1 ? releases.find((known) => known.minor === minor) : undefined;
    if (release !== undefined) return new Contract(release);
    const newest = Contract.newest().toString();
    throw new TalosError(
      "invalid-input",
      `Talos ${text} is not known: found ${major}.${minor}, expected ${knownRange}`,
      { hint: `Name one of these, or use a newer talosmith. A newer Talos accepts the contract ${newest}, too.` },
    );
  }

  /** The contract of exactly this name, such as `v1.13`; undefined when it is not known. */
  static find(name: string): Contract | undefined {
    return Contract.all().find((contract) => contract.toString() === name);
  }

  static all(): readonly Contract[] {
    return releases.map((release) => new Contract(release));
  }

  /** The newest that we can write. */
  static newest(): Contract {
    return new Contract(newestRelease);
  }

  toString(): string {
    return `v1.${this.#release.minor}`;
  }

  equals(other: Contract): boolean {
    return this.#release === other.#release;
  }

  /** Negative when this contract is older than the other, 0 when the same, positive when newer. */
  compare(other: Contract): number {
    return this.#release.minor - other.#release.minor;
  }

  /** Whether something that came with Talos 1.`minor` exists in this contract. */
  includes(minor: number): boolean {
    return minor <= this.#release.minor;
  }

  /** Defaults of new clusters that configs of this contract have and those of the older one do not. */
  newDefaultsSince(older: Contract): readonly DefaultChange[] {
    return defaultChanges.filter(({ minor }) => this.includes(minor) && !older.includes(minor));
  }

  /** cluster.id in the URL-safe base64 alphabet, else in the standard one. */
  get urlSafeClusterId(): boolean {
    return this.#has("urlSafeClusterId");
  }

  /** Some fields of a config take effect only with a reboot. */
  get rebootsForConfig(): boolean {
    return this.#has("rebootsForConfig");
  }

  /** /var is mounted with nosuid and nodev also where no document says so. */
  get mountsVarSecurely(): boolean {
    return this.#has("mountsVarSecurely");
  }

  /** Bootstrap manifests are applied server-side and listed in an inventory, so that what they no longer have is pruned. */
  get syncsManifestsByInventory(): boolean {
    return this.#has("syncsManifestsByInventory");
  }

  /** machine.features carries rbac, stableHostname and apidCheckExtKeyUsage, which are always on later. */
  get legacyFeatureFlags(): boolean {
    return this.#has("legacyFeatureFlags");
  }

  /** The endpoint's host stands in cluster.apiServer.certSANs, and PodSecurityPolicy is switched off by name. */
  get legacyApiServer(): boolean {
    return this.#has("legacyApiServer");
  }

  /** machine.network is written even when it is empty. */
  get emptyNetworkSection(): boolean {
    return this.#has("emptyNetworkSection");
  }

  get grubUsesUkiCommandLine(): boolean {
    return this.#has("grubUsesUkiCommandLine");
  }

  /** The host name is a HostnameConfig document, else machine.network.hostname. */
  get hostnameDocument(): boolean {
    return this.#has("hostnameDocument");
  }

  /** Registry mirrors, credentials and TLS are documents, else machine.registries. */
  get registryDocuments(): boolean {
    return this.#has("registryDocuments");
  }

  /** Links, addresses, DHCP, resolvers and virtual IPs are documents, else machine.network. */
  get networkDocuments(): boolean {
    return this.#has("networkDocuments");
  }

  /** Keys of system volumes are in VolumeConfig documents, else in machine.systemDiskEncryption. */
  get encryptionDocuments(): boolean {
    return this.#has("encryptionDocuments");
  }

  /** KubeSpan is a KubeSpanConfig document, else machine.network.kubespan. */
  get kubeSpanDocument(): boolean {
    return this.#has("kubeSpanDocument");
  }

  /** Install, discovery and everything of Kubernetes are documents of their own. */
  get kubernetesDocuments(): boolean {
    return this.#has("kubernetesDocuments");
  }

  /** The default installer comes from the image factory, else from the release's registry. */
  get factoryInstaller(): boolean {
    return this.#has("factoryInstaller");
  }

  /** The image factory has one installer per platform, else one for all. */
  get platformInstaller(): boolean {
    return this.#has("platformInstaller");
  }

  /** The images of this release that are not versioned with Kubernetes. */
  get images(): ReleaseImages {
    return this.#release;
  }

  #has(feature: keyof typeof features): boolean {
    const { from = 0, to = Number.POSITIVE_INFINITY }: Span = features[feature];
    return from <= this.#release.minor && this.#release.minor <= to;
  }
}
