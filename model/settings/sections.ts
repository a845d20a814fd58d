// SPDX-License-Identifier: Apache-2.0
// Settings that become config patches: what they hold, for files and constructs alike.

/** For machines that cannot reach the internet. */
export interface AirGap {
  /** Registry host, or `*` for all, to the mirrors that are asked instead of it. @default - none */
  readonly mirrors?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Ask the registry itself when no mirror answers. @default false */
  readonly fallback?: boolean | undefined;
  /** Take images from the cache that the Talos image brings with it. It has to be made with one. @default false */
  readonly imageCache?: boolean | undefined;
  /** The volume IMAGECACHE, which the cache is copied to. @default - on the system disk */
  readonly imageCacheVolume?:
    | {
        /** Size, such as `4GiB`, or bytes. @default - Talos's own, at most 1GiB */
        readonly size?: string | number | undefined;
        /** Which disk, as a CEL expression such as `disk.transport == "nvme"`. @default - the system disk */
        readonly disk?: string | undefined;
      }
    | undefined;
  /** URL of an image factory of your own, for installers and disk images. @default - the public one */
  readonly factory?: string | undefined;
}

/** A key of an encrypted volume. */
export type EncryptionKey =
  /** Sealed to the machine's TPM. `checkSecureBoot`: refuse to enroll where SecureBoot is off. */
  | { readonly tpm: { readonly checkSecureBoot: boolean } }
  /** Kept by a KMS server in the network that speaks Talos's protocol. */
  | { readonly kms: { readonly endpoint: string } }
  /** A passphrase, the same for all machines; the file holds nothing else. */
  | { readonly static: { readonly file: string } }
  /** Made from the machine's UUID: no protection against whoever has the machine. */
  | { readonly nodeID: true };

/** Encrypted system volumes. Keys are tried in order. */
export interface DiskEncryption {
  /** Keys of STATE, which holds the config. @default - not encrypted */
  readonly state?: readonly EncryptionKey[] | undefined;
  /** Keys of EPHEMERAL, which holds etcd and the pods' data. @default - not encrypted */
  readonly ephemeral?: readonly EncryptionKey[] | undefined;
}

/** Talos's ingress firewall: everything is blocked but what Talos and Kubernetes need, and what is listed here. */
export interface Firewall {
  /** Networks of the machines: what Talos and Kubernetes need among themselves. */
  readonly nodes: readonly string[];
  /** Networks that may reach the Talos API and the Kubernetes API. @default - none */
  readonly admins?: readonly string[] | undefined;
  /** What else may come in. @default - nothing */
  readonly rules?: readonly FirewallRule[] | undefined;
}

/** Ports of machines that some networks may reach. */
export interface FirewallRule {
  /** Name of the rule. */
  readonly name: string;
  /** Such as 443 or `30000-32767`. */
  readonly ports: readonly (number | string)[];
  /** Protocol of the ports. @default tcp */
  readonly protocol?: "tcp" | "udp" | undefined;
  /** Networks that may reach the ports. */
  readonly from: readonly string[];
  /** Which machines it is for. @default all */
  readonly on?: "all" | "controlPlane" | "worker" | undefined;
}

/** Talos config patches, as YAML, by the machines they are for. */
export interface PatchesByMachine {
  /** For every machine. @default - none */
  readonly all?: readonly string[] | undefined;
  /** For control planes. @default - none */
  readonly controlPlane?: readonly string[] | undefined;
  /** For workers. @default - none */
  readonly worker?: readonly string[] | undefined;
  /** For single machines, by name. @default - none */
  readonly machines?: Readonly<Record<string, readonly string[]>> | undefined;
}
