// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";
import { cidr, count, deletionProtection, dnsName, hostOrAddress, size, trustOnFirstUse } from "./values.ts";

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), { error: `an id such as ${prefix}-0123456789abcdef0` });

const hardware = {
  instanceType: z
    .string()
    .regex(/^[a-z0-9-]+\.[a-z0-9-]+$/, { error: "an EC2 instance type such as m7i.large" })
    .optional()
    .describe("EC2 instance type. Default: t3.large, or t4g.large on arm64."),
  architecture: z
    .enum(["amd64", "arm64"])
    .optional()
    .describe("Processor of this pool's machines. Default: the infrastructure's."),
  ami: id("ami").optional().describe("Talos image of this pool. Default: by release and architecture."),
  disk: size.prefault("20GiB").describe("System disk, encrypted gp3."),
  extraDisks: z
    .array(z.strictObject({ size: size.describe("Such as 100GiB.") }))
    .max(10)
    .default([])
    .describe("Further empty encrypted gp3 disks."),
};

const worker = z.strictObject({
  ...workerFields,
  ...hardware,
  scaling: z
    .strictObject({
      min: count(0, 5_000).describe("Fewest machines."),
      max: count(1, 5_000).describe("Most machines."),
    })
    .optional()
    .describe(
      "An auto scaling group in place of fixed machines; count is where it starts. Its machines get their config by user-data.",
    ),
  ...poolFields,
});

const vpc = z
  .strictObject({
    cidr: cidr.optional().describe("The network of the VPC. Default for one that is made: 10.0.0.0/16."),
    natGateways: z
      .enum(["one", "per-zone"])
      .optional()
      .describe("How private subnets reach the internet. Default: one."),
    id: id("vpc").optional().describe("An existing VPC, in place of one that is made."),
    publicSubnetIds: z.array(id("subnet")).default([]).describe("Its public subnets, one per zone."),
    privateSubnetIds: z.array(id("subnet")).default([]).describe("Its private subnets, one per zone."),
    natCidrs: z.array(cidr).default([]).describe("Addresses that its private subnets have on the internet."),
  })
  .prefault({})
  .describe("The network to make, or an existing one.");

/** EC2 instances behind a network load balancer. */
export const aws = {
  kind: "aws",
  infrastructure: z.strictObject({
    kind: z.literal("aws").describe("EC2 instances behind a network load balancer."),
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, { error: "an AWS region such as eu-central-1" })
      .describe("AWS region."),
    zones: z
      .union([count(1, 6), z.array(z.string().regex(/^[a-z0-9-]+$/)).min(1)], {
        error: "a number of zones, or a list of their names",
      })
      .default(3)
      .describe("Availability zones that the machines are spread over: how many, or which."),
    architecture: z
      .enum(["amd64", "arm64"])
      .default("amd64")
      .describe("Processor of machines whose pool says nothing else."),
    ami: id("ami").optional().describe("Talos image. Default: Sidero Labs' image of the release, by name."),
    access: z
      .enum(["public", "nlb", "private"])
      .default("nlb")
      .describe(
        "How the Talos API is reached: public addresses of the machines, the load balancer, or a tunnel that talosEndpoints names.",
      ),
    trustOnFirstUse: trustOnFirstUse.describe(
      "With access public: apply the initial config, which holds the CA keys, to whatever answers at a machine's public address.",
    ),
    adminCidrs: z
      .array(cidr)
      .default([])
      .describe("Networks that may reach the Talos API, and the Kubernetes API from outside."),
    kubernetesApiFromAnywhere: z
      .boolean()
      .default(false)
      .describe("Open 6443 to the whole internet. The Talos API never is."),
    talosEndpoints: z
      .array(hostOrAddress)
      .default([])
      .describe("Where the Talos API is reached with access private: your tunnel or proxy."),
    vpc,
    dns: z
      .strictObject({
        zone: dnsName.describe("DNS zone, such as example.com."),
        label: z
          .union([dnsName, z.literal("")])
          .optional()
          .describe("Between name and zone. Default: the environment's name."),
        name: dnsName.default("k8s").describe("First part of the name."),
        createZone: z.boolean().default(false).describe("Make the zone rather than find it."),
      })
      .optional()
      .describe("Name of the Kubernetes API: <name>.<label>.<zone>. Default: the load balancer's own name."),
    deletionProtection: deletionProtection.describe(
      "Refuse to destroy the cluster and to remove its machines; AWS refuses to delete the load balancer and the control planes, too.",
    ),
    flowLogs: z.boolean().default(false).describe("Log the VPC's traffic for a year."),
    detailedMonitoring: z.boolean().default(true).describe("EC2 metrics by the minute."),
    backups: z
      .union(
        [
          z.literal(false),
          z.strictObject({ expireDays: count(1, 3_650).default(30).describe("How long a snapshot is kept.") }),
        ],
        {
          error: "false, or { expireDays }",
        },
      )
      .prefault({})
      .describe("Bucket for etcd snapshots."),
    cloudControllerManager: z.boolean().default(true).describe("Let control planes make load balancers for services."),
    ebsCsi: z.boolean().default(true).describe("Let control planes manage EBS volumes."),
    tags: z.record(z.string(), z.string()).default({}).describe("Tags on everything."),
  }),
  controlPlane: z.strictObject({ ...controlPlaneFields, ...hardware, ...poolFields }),
  worker,
  workers: z.array(worker).default([]),
} as const;
