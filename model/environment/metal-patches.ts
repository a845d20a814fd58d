// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { stringify } from "yaml";
import { deviceExpression, hardwareExpression, selectorExpression } from "../../talos/config/index.ts";
import { filled, given } from "../../talos/given.ts";
import { chosenSchematic, installerReference, type SchematicChoice, schematicId } from "../../talos/image/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import type { DiskSelector, MetalMachineSettings, MetalNetwork } from "./metal.ts";

/** What a machine's own config patches are made from. */
export interface MetalMachineInput {
  readonly talosVersion: string;
  readonly configContract: string;
  readonly machine: Pick<
    MetalMachineSettings,
    "address" | "role" | "disk" | "diskSelector" | "image" | "schematic" | "wipe" | "link" | "mac"
  >;
  readonly network: MetalNetwork;
  readonly diskSelector?: DiskSelector | undefined;
  readonly wipe?: boolean | undefined;
  /** The disk of machines that say nothing. @default /dev/sda */
  readonly installDisk?: string | undefined;
  /** URL of an image factory of one's own. */
  readonly imageFactory?: string | undefined;
}

/** The config patches that put a machine's disk, image and network settings into its config, in the form it reads. */
export function metalPatches(input: MetalMachineInput): readonly string[] {
  const contract = Contract.parse(input.configContract);
  const network = contract.networkDocuments ? networkDocuments(input) : legacyNetwork(input);
  return [...installPatches(contract, input), ...network].map((document) =>
    typeof document === "string" ? document : stringify(document, { lineWidth: 0 }),
  );
}

interface Install {
  readonly disk?: string | undefined;
  readonly selector?: DiskSelector | undefined;
  readonly image?: string | undefined;
  readonly wipe: boolean;
}

function installPatches(contract: Contract, input: MetalMachineInput): readonly (object | string)[] {
  const { machine } = input;
  const install: Install = {
    disk: machine.disk,
    selector: machine.disk === undefined ? (machine.diskSelector ?? input.diskSelector) : undefined,
    image: machine.image ?? imageOf(machine.schematic, input),
    wipe: machine.wipe ?? input.wipe ?? false,
  };
  const { disk, selector, image, wipe } = install;
  if (disk === undefined && selector === undefined && image === undefined && !wipe) return [];
  // A patch that says anything of the provisioning has to name the disk: Talos forgets the selector otherwise.
  const named = disk ?? (selector === undefined ? (input.installDisk ?? "/dev/sda") : undefined);
  if (contract.kubernetesDocuments) return [unattendedInstall({ ...install, disk: named })];
  const fields = { disk, diskSelector: selector, image, wipe: wipe || undefined };
  // A path that stays beside a selector would only mislead: Talos takes the selector.
  const withoutPath = selector === undefined ? [] : [{ machine: { install: { disk: { $patch: "delete" } } } }];
  return [{ machine: { install: fields } }, ...withoutPath];
}

function imageOf(schematic: SchematicChoice | undefined, input: MetalMachineInput): string | undefined {
  if (schematic === undefined) return undefined;
  const { talosVersion, imageFactory: factory } = input;
  const id = schematicId(chosenSchematic(schematic));
  const options = { schematic: id, version: TalosVersion.parse(talosVersion), platform: "metal" } as const;
  return installerReference({ ...options, ...given({ factory }) });
}

function unattendedInstall({ disk, selector, image, wipe }: Install): object {
  const match = disk === undefined ? selectorExpression(selector ?? {}) : deviceExpression(disk);
  return {
    apiVersion: "v1alpha1",
    kind: "UnattendedInstallConfig",
    installer: image === undefined ? undefined : { image },
    provisioning: { diskSelector: { match }, wipe: wipe || undefined },
  };
}

/** The address with its prefix length, when it is static. */
export function staticAddress({
  machine,
  network,
}: Pick<MetalMachineInput, "machine" | "network">): string | undefined {
  return network.cidr === undefined ? undefined : `${machine.address}/${ipaddr.parseCIDR(network.cidr)[1]}`;
}

function legacyNetwork(input: MetalMachineInput): readonly object[] {
  const { machine, network } = input;
  const address = staticAddress(input);
  const vip = machine.role === "controlplane" ? network.vip : undefined;
  const link =
    machine.mac === undefined ? { interface: machine.link } : { deviceSelector: { hardwareAddr: machine.mac } };
  const { gateway, nameservers } = network;
  const settings = {
    dhcp: address === undefined ? true : undefined,
    addresses: address === undefined ? undefined : [address],
    routes: address && gateway ? [{ network: everywhere(gateway), gateway }] : undefined,
    vip: vip === undefined ? undefined : { ip: vip },
  };
  const interfaces = (address ?? vip) === undefined ? undefined : [{ ...link, ...settings }];
  const section = given({ interfaces, nameservers: filled(nameservers) });
  return filled(section) === undefined ? [] : [{ machine: { network: section } }];
}

function everywhere(gateway: string): string {
  return ipaddr.parse(gateway).kind() === "ipv6" ? "::/0" : "0.0.0.0/0";
}

/** The name that a link found by its MAC has in the documents. */
const alias = "net0";

function networkDocuments(input: MetalMachineInput): readonly object[] {
  const { machine, network } = input;
  const address = staticAddress(input);
  const vip = machine.role === "controlplane" ? network.vip : undefined;
  const link = machine.mac === undefined ? machine.link : alias;
  const documents: object[] = [];
  const add = (kind: string, fields: object) => documents.push({ apiVersion: "v1alpha1", kind, ...fields });
  const match = hardwareExpression(machine.mac ?? "");
  const routes = network.gateway === undefined ? undefined : [{ gateway: network.gateway }];
  if (machine.mac !== undefined && (address ?? vip) !== undefined)
    add("LinkAliasConfig", { name: alias, selector: { match } });
  if (address !== undefined) add("LinkConfig", { name: link, up: true, addresses: [{ address }], routes });
  if (address === undefined && vip !== undefined && link !== undefined) add("DHCPv4Config", { name: link });
  if (network.nameservers.length > 0)
    add("ResolverConfig", { nameservers: network.nameservers.map((server) => ({ address: server })) });
  if (vip !== undefined) add("Layer2VIPConfig", { name: vip, link });
  return documents;
}
