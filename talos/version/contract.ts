// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { releaseOf, releases } from "./release.ts";

/** References of images that follow the Talos release, not the Kubernetes version. */
export interface ReleaseImages {
  readonly etcd: string;
  readonly coredns: string;
  readonly flannel: string;
  readonly pause: string;
  readonly networkPolicies?: string | undefined;
}

/**
 * The Talos minor version that a config is made for. It answers questions by name, so that no other file compares
 * versions; each question is about the form of what we write, not about the machine that reads it.
 */
export class Contract {
  readonly #minor: number;

  private constructor(minor: number) {
    this.#minor = minor;
  }

  /** Reads `v1.13`, `1.13` or any full version. Throws for a minor release that we do not know. */
  static parse(text: string): Contract {
    const match = /^v?(\d+)\.(\d+)(?:\.\d+(?:-[0-9A-Za-z.-]+)?)?$/.exec(text);
    if (match === null) {
      throw new TalosError("invalid-input", `error parsing version ${JSON.stringify(text)}`, {
        hint: `Write a Talos version such as "v1.13" or "v1.13.9".`,
      });
    }
    const [major, minor] = [Number(match[1]), Number(match[2])];
    if (major !== 1 || releaseOf(minor) === undefined) {
      throw new TalosError("invalid-input", `Talos ${text} is not known: found ${major}.${minor}, ${knownRange()}`, {
        hint: "Name one of these releases, or use a newer talosmith.",
      });
    }
    return new Contract(minor);
  }

  static all(): readonly Contract[] {
    return releases.map((release) => new Contract(release.minor));
  }

  toString(): string {
    return `v1.${this.#minor}`;
  }

  equals(other: Contract): boolean {
    return this.#minor === other.#minor;
  }

  /** Whether something that came with Talos 1.`minor` exists in this contract. */
  includes(minor: number): boolean {
    return minor <= this.#minor;
  }

  /** cluster.id in the URL-safe base64 alphabet, else in the standard one. */
  get urlSafeClusterId(): boolean {
    return this.#minor <= 13;
  }

  /** Some fields of a config take effect only with a reboot. */
  get rebootsForConfig(): boolean {
    return this.#minor <= 13;
  }

  /** Bootstrap manifests are applied server-side and listed in an inventory, so that what they no longer have is pruned. */
  get syncsManifestsByInventory(): boolean {
    return this.#minor >= 13;
  }

  /** machine.features carries rbac, stableHostname and apidCheckExtKeyUsage, which are always on later. */
  get legacyFeatureFlags(): boolean {
    return this.#minor <= 11;
  }

  /** The endpoint's host stands in cluster.apiServer.certSANs, and PodSecurityPolicy is switched off by name. */
  get legacyApiServer(): boolean {
    return this.#minor <= 11;
  }

  /** machine.network is written even when it is empty. */
  get emptyNetworkSection(): boolean {
    return this.#minor <= 12;
  }

  get grubUsesUkiCommandLine(): boolean {
    return this.#minor >= 12;
  }

  /** The host name is a HostnameConfig document, else machine.network.hostname. */
  get hostnameDocument(): boolean {
    return this.#minor >= 12;
  }

  /** Registry mirrors, credentials and TLS are documents, else machine.registries. */
  get registryDocuments(): boolean {
    return this.#minor >= 12;
  }

  /** Links, addresses, DHCP, resolvers and virtual IPs are documents, else machine.network. */
  get networkDocuments(): boolean {
    return this.#minor >= 12;
  }

  /** Keys of system volumes are in VolumeConfig documents, else in machine.systemDiskEncryption. */
  get encryptionDocuments(): boolean {
    return this.#minor >= 11;
  }

  /** KubeSpan is a KubeSpanConfig document, else machine.network.kubespan. */
  get kubeSpanDocument(): boolean {
    return this.#minor >= 13;
  }

  /** A value of extraArgs may be a list of strings. */
  get listsInExtraArguments(): boolean {
    return this.#minor >= 13;
  }

  /** Install, discovery and everything of Kubernetes are documents of their own. */
  get kubernetesDocuments(): boolean {
    return this.#minor >= 14;
  }

  /** The default installer comes from the image factory, else from the release's registry. */
  get factoryInstaller(): boolean {
    return this.#minor >= 14;
  }

  /** The image factory has one installer per platform, else one for all. */
  get platformInstaller(): boolean {
    return this.#minor >= 10;
  }

  /** The client pulls, installs, drains and reboots; before, the node did it all on one Upgrade call. */
  get clientDrivenUpgrade(): boolean {
    return this.#minor >= 13;
  }

  /** The images of this release that are not versioned with Kubernetes. */
  get images(): ReleaseImages {
    const release = releaseOf(this.#minor);
    if (release === undefined) throw new TalosError("internal", `no release data for ${this.toString()}`);
    const { networkPolicies } = release;
    const etcdRepository = this.#minor <= 11 ? "gcr.io/etcd-development/etcd" : "registry.k8s.io/etcd";
    return {
      etcd: `${etcdRepository}:${release.etcd}`,
      coredns: `registry.k8s.io/coredns/coredns:${release.coredns}`,
      flannel: `ghcr.io/siderolabs/flannel:${release.flannel}`,
      pause: `registry.k8s.io/pause:${release.pause}`,
      networkPolicies: networkPolicies && `registry.k8s.io/networking/kube-network-policies:${networkPolicies}`,
    };
  }
}

function knownRange(): string {
  return `expected 1.${releases[0]?.minor} to 1.${releases.at(-1)?.minor}`;
}
