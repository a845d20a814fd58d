// SPDX-License-Identifier: Apache-2.0
export {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  type LibvirtNetworkProps,
  type LibvirtNetworkReference,
  type LibvirtPoolSettings,
  type LibvirtStoragePool,
} from "./libvirt-infrastructure.ts";
