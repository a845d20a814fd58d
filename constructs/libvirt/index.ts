// SPDX-License-Identifier: Apache-2.0
export {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  type LibvirtPoolSettings,
} from "./libvirt-infrastructure.ts";
export { LibvirtMachine } from "./libvirt-machine.ts";
