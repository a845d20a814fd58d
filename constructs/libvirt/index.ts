// SPDX-License-Identifier: Apache-2.0
export {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  type LibvirtNetworkProps,
  type LibvirtPoolSettings,
} from "./libvirt-infrastructure.ts";
