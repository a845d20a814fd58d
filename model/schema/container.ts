// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";
import { address, cidr, count, deletionProtection, name, size, trustOnFirstUse } from "./values.ts";

const cpuNoun = 'a number of processors such as 2, or "500m"';
const cpu = z
  .union([z.number().positive(), z.string().regex(/^\d+m$/, { error: cpuNoun })], { error: cpuNoun })
  .describe("Processors: 2, 0.5 or 500m.");
const resources = z.strictObject({
  cpu: cpu.optional(),
  memory: size.optional().describe("Memory, such as 2GiB."),
});

const hardware = {
  requests: resources.prefault({}).describe("What the host keeps free for each machine (pods)."),
  limits: resources.prefault({}).describe("What each machine may use at most."),
  disk: size.prefault("10GiB").describe("Volume for EPHEMERAL: etcd and what pods keep (pods)."),
};

const worker = z.strictObject({
  ...workerFields,
  ...hardware,
  addressOffset: count(1, 65_534)
    .optional()
    .describe(
      "Where this pool's addresses begin in Docker's network. Default: docker.workerOffset, for the first pool.",
    ),
  ...poolFields,
});

const docker = z.strictObject({
  host: z
    .string()
    .regex(/^(unix|tcp|ssh|npipe):\/\/\S+$/, { error: "a Docker host such as unix:///var/run/docker.sock" })
    .optional()
    .describe("The Docker daemon. Default: as the docker command finds it."),
  cidr: cidr.default("10.5.0.0/24").describe("Network of the containers, made for them."),
  controlPlaneOffset: count(2, 65_534).default(2).describe("First control plane's place in the network."),
  workerOffset: count(2, 65_534).default(20).describe("First worker's place in the network."),
  publish: z
    .strictObject({
      address: address.default("127.0.0.1").describe("Address of the host."),
      kubernetes: count(1, 65_535).default(6443).describe("Port of the host for the Kubernetes API."),
      talos: count(1, 65_535).default(50000).describe("Port of the host for the Talos API."),
    })
    .optional()
    .describe("Ports of the host for the first control plane. Default: none."),
});

const kubernetes = z.strictObject({
  kubeconfig: z.string().min(1).default("~/.kube/config").describe("kubeconfig of the host cluster."),
  context: z.string().min(1).optional().describe("Context in it. Default: the current one."),
  namespace: name.optional().describe("Namespace to make for the pods. Default: talos-<cluster>."),
  service: z
    .enum(["ClusterIP", "LoadBalancer"])
    .default("ClusterIP")
    .describe("How the machines are reached: from inside the host cluster, or from outside."),
  storageClass: z.string().min(1).optional().describe("Storage class of the volumes. Default: the host's own."),
});

/** Talos in containers: of a Docker daemon, or as pods of another Kubernetes. */
export const container = {
  kind: "container",
  infrastructure: z.strictObject({
    kind: z.literal("container").describe("Talos in containers: for trying out, and for clusters inside of clusters."),
    engine: z.enum(["docker", "kubernetes"]).describe("What runs the containers."),
    image: z.string().min(1).optional().describe("Talos container image. Default: the release's own."),
    trustOnFirstUse,
    docker: docker.optional().describe("Settings of the engine docker."),
    kubernetes: kubernetes.optional().describe("Settings of the engine kubernetes."),
    deletionProtection,
  }),
  controlPlane: z.strictObject({ ...controlPlaneFields, ...hardware, ...poolFields }),
  worker,
  workers: z.array(worker).default([]),
} as const;

export const dockerDefaults = docker.parse({});
