// SPDX-License-Identifier: Apache-2.0

/** What Talos takes where a machine config sets nothing. Light: the provider reads it at every start. */
export const configDefaults = {
  dnsDomain: "cluster.local",
  podSubnets: ["10.244.0.0/16"],
  serviceSubnets: ["10.96.0.0/12"],
  cni: "flannel",
  kubeProxy: true,
  kubespan: false,
  discovery: true,
  externalCloudProvider: false,
  allowSchedulingOnControlPlanes: false,
  additionalSans: [],
  installDisk: "/dev/sda",
  registryMirrors: {},
} as const;
