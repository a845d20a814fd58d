// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { defaultTalosVersion } from "../../talos/version/index.ts";
import { airGap, diskEncryption, firewall } from "./machine-settings.ts";
import { schematic } from "./schematic.ts";
import {
  anyCidr,
  dnsName,
  endpoint,
  hostOrAddress,
  kubernetesVersion,
  name,
  relativePath,
  talosVersion,
  url,
} from "./values.ts";

const patchNoun = "a patch: a mapping, YAML text, or { configRef: ./file.yaml }";

/** A Talos config patch: a mapping, the YAML text itself, or a reference, which the loader replaces by the text. */
const patch = z.union([z.string().min(1), z.record(z.string(), z.unknown())], { error: patchNoun });
export const patches = z.array(patch, { error: "a list of patches" });

export const clusterSchema = z.strictObject({
  name: name.optional().describe("Name of the cluster and beginning of its machines' names. Default: the file's name."),
  talosVersion: talosVersion
    .default(defaultTalosVersion.toString())
    .describe("Talos release that the machines run, as v1.13.9."),
  kubernetesVersion: kubernetesVersion
    .optional()
    .describe("Kubernetes version, without v. Default: the one that this Talos release brings."),
  endpoint: endpoint
    .optional()
    .describe("Where the Kubernetes API is reached. Default: the VIP, load balancer or first control plane."),
  domain: dnsName.default("cluster.local").describe("DNS domain inside the cluster. Never changes after creation."),
  podCidrs: z
    .array(anyCidr)
    .min(1)
    .default(["10.244.0.0/16"])
    .describe("Networks of the pods. Never change after creation."),
  serviceCidrs: z
    .array(anyCidr)
    .min(1)
    .default(["10.96.0.0/12"])
    .describe("Networks of the services. Never change after creation."),
  cni: z
    .union(
      [
        z.enum(["flannel", "none"]),
        z.strictObject({ urls: z.array(url).min(1).describe("Manifests that bring the pod network.") }),
      ],
      {
        error: "flannel, none, or { urls: [...] }",
      },
    )
    .default("flannel")
    .describe("Pod network: flannel, none (an add-on brings it), or manifests by URL."),
  kubespan: z.boolean().default(false).describe("WireGuard between all machines."),
  discovery: z.boolean().default(true).describe("Talos cluster discovery."),
  allowSchedulingOnControlPlanes: z
    .boolean()
    .optional()
    .describe("Let ordinary pods run on control planes. Default: only when there are no workers."),
  certSans: z.array(hostOrAddress).default([]).describe("Further names and addresses in the API certificates."),
  installDisk: z.string().min(1).optional().describe("Disk that Talos is installed on. Default: by infrastructure."),
  installImage: z.string().min(1).optional().describe("Installer image. Default: from version and schematic."),
  registryMirrors: z
    .record(hostOrAddress.or(z.literal("*")), z.array(url).min(1))
    .default({})
    .describe("Registry host to the mirrors that are asked instead of it."),
  schematic: schematic.optional().describe("What is added to the image. Default: nothing."),
  airGap: airGap.optional().describe("For machines that cannot reach the internet. Default: they can."),
  diskEncryption: diskEncryption.optional().describe("Encrypted system volumes. Default: none."),
  firewall: firewall
    .optional()
    .describe("What may reach the machines; everything else is blocked. Default: everything."),
  patchFiles: z
    .array(relativePath)
    .default([])
    .describe(
      "Files with config patches that hold secrets, for every machine; they may be encrypted with age (.age) or SOPS (.sops.yaml). Only their hash is in plans and state.",
    ),
  patches: z
    .strictObject({
      all: patches.default([]).describe("For every machine."),
      controlPlane: patches.default([]).describe("For control planes."),
      worker: patches.default([]).describe("For workers."),
      machines: z.record(z.string(), patches).default({}).describe("For single machines, by name."),
    })
    .prefault({})
    .describe("Talos config patches, applied in this order."),
});

export type ClusterSection = z.output<typeof clusterSchema>;
