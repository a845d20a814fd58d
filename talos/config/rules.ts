// SPDX-License-Identifier: Apache-2.0
import { Contract, type TalosVersion } from "../version/index.ts";

/**
 * How a Talos release reads, merges, writes and judges machine configs, where releases differ. Talos's own rules are
 * those of the program that does it: talosctl merges and writes by its release, a machine judges by the one that it
 * runs. We merge and write by the config's contract, so that an upgrade alone changes no config.
 */
export interface ConfigRules {
  readonly contract: Contract;
  /** Documents of a kind that is not known: an error, or carried through as they are for a Talos newer than all known. */
  readonly unknownKinds: "refused" | "carried";
  /** A null in a list or map of sections is an error, else left out. */
  readonly refusesNullElements: boolean;
  /** A patch may have the same document twice. */
  readonly repeatedDocumentsInPatches: boolean;
  /** Wrong values are listed in one line, else one below the other. */
  readonly faultsInOneLine: boolean;
  /** What the type of free-form values is called in messages. */
  readonly freeFormType: string;
  /** The types of arguments, likewise. */
  readonly argumentsType: string;
  /** Deleting a document that is not there changes nothing, else it is an error. */
  readonly skipsMissingDocuments: boolean;
  /** The other end of a pair of links counts among the links that only one document may be about. */
  readonly linksOfPeers: boolean;
  /** Quotes of text that older YAML took for another type, such as `yes` or `1:30`. */
  readonly quotesOfWords: "double" | "single";
  /** Sections that move into documents (install, hostDNS, the endpoint) are required and checked in v1alpha1 alone. */
  readonly judgesV1alpha1Alone: boolean;
  /** The volumes that a VolumeConfig may be about. */
  readonly systemVolumes: readonly string[];
  /** What user volumes may be formatted with; `none` stands for no word. */
  readonly filesystems: readonly string[];
  /** Volumes that are directories have mount options, but for access times. */
  readonly mountsDirectories: boolean;
  /** Name servers and host DNS of a ResolverConfig are checked. */
  readonly checksResolvers: boolean;
  /** Certificate and key of a RegistryTLSConfig are loaded, else only looked at. */
  readonly loadsClientIdentity: boolean;
  /** Patterns of image names are held against whole references, with registry and folder. */
  readonly matchesWholeReferences: boolean;
}

const before14 = {
  refusesNullElements: false,
  repeatedDocumentsInPatches: false,
  faultsInOneLine: false,
  freeFormType: "v1alpha1.Unstructured",
  argumentsType: "v1alpha1.Args",
  skipsMissingDocuments: false,
  linksOfPeers: false,
  quotesOfWords: "double",
  judgesV1alpha1Alone: true,
  systemVolumes: ["STATE", "EPHEMERAL", "IMAGECACHE"],
  filesystems: ["none", "xfs", "ext4"],
  mountsDirectories: false,
  checksResolvers: false,
  loadsClientIdentity: true,
  matchesWholeReferences: false,
} as const;

const since14 = {
  refusesNullElements: true,
  repeatedDocumentsInPatches: true,
  faultsInOneLine: true,
  freeFormType: "meta.Unstructured",
  argumentsType: "meta.Args",
  skipsMissingDocuments: true,
  linksOfPeers: true,
  quotesOfWords: "single",
  judgesV1alpha1Alone: false,
  systemVolumes: ["STATE", "EPHEMERAL", "IMAGECACHE", "ETCD", "CRI", "KUBELET", "LOG"],
  filesystems: ["none", "xfs", "ext4", "btrfs"],
  mountsDirectories: true,
  checksResolvers: true,
  loadsClientIdentity: false,
  matchesWholeReferences: true,
} as const;

/** The rules of a contract. Documents of kinds that are not known pass where the config is for a Talos newer than all known. */
export function configRules(contract: Contract, talos?: TalosVersion): ConfigRules {
  const unknownKinds = talos?.isUnknown ? "carried" : "refused";
  return { contract, unknownKinds, ...(contract.includes(14) ? since14 : before14) };
}

/** The rules by which machines of a release judge. */
export function machineRules(talos: TalosVersion): ConfigRules {
  return configRules(talos.contract, talos);
}

/** For text that a person wrote, of no release in particular: the rules of the newest one known. */
export const newestRules: ConfigRules = configRules(Contract.newest());

/** For text that a machine has, which may be newer than all that is known. */
export const observedRules: ConfigRules = { ...newestRules, unknownKinds: "carried" };
