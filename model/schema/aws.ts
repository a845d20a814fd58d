// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";
import { cidr, count, deletionProtection, dnsName, hostOrAddress, size, trustOnFirstUse } from "./values.ts";

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), { error: `an id such as ${prefix}-0123456789abcdef0` });

const arn = (service: string, resource: string, example: string) =>
  z.string().regex(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:(\\d{12}|aws)?:${resource}$`), {
    error: `an ARN such as ${example}`,
  });

const zone = z.string().regex(/^[a-z0-9-]+$/, { error: "a zone such as eu-central-1a" });

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
  metadataHopLimit: count(1, 64)
    .optional()
    .describe(
      "Network hops that answers of the instance metadata service may take. Pods reach it, and with it the machine's IAM role, from 2 on. Default: 1, or 2 for control planes with ebsCsi.",
    ),
  disk: size.prefault("20GiB").describe("System disk, encrypted gp3."),
  extraDisks: z
    .array(z.strictObject({ size: size.describe("Such as 100GiB.") }))
    .max(10)
    .default([])
    .describe("Further empty encrypted gp3 disks."),
  zones: z
    .array(zone)
    .min(1)
    .optional()
    .describe(
      "Zones of this pool, such as those that have its instance type. Machines that exist stay in their zone. Default: all of the infrastructure.",
    ),
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

/** How Terraform speaks to AWS. Credentials never stand here. */
const provider = z
  .strictObject({
    profile: z
      .string()
      .min(1)
      .optional()
      .describe("Profile of the AWS configuration, for Terraform and for backups. Default: the credential chain."),
    assumeRole: z
      .strictObject({
        roleArn: arn("iam", "role/.+", "arn:aws:iam::111122223333:role/deploy").describe("The role."),
        sessionName: z.string().min(2).max(64).optional().describe("Name of the session in AWS's logs."),
        externalId: z.string().min(2).optional().describe("External id that the role asks for."),
      })
      .optional()
      .describe("A role that Terraform takes on. Default: none."),
    allowedAccountIds: z
      .array(z.string().regex(/^\d{12}$/, { error: 'an account id of 12 digits in quotes, such as "111122223333"' }), {
        error: "a list of account ids",
      })
      .default([])
      .describe("Accounts that may be changed; with credentials of another one, every plan is refused. Default: any."),
  })
  .prefault({})
  .describe("How Terraform's AWS provider gets at the account.");

const ownRule = z.strictObject({
  description: z
    .string()
    .regex(/^[A-Za-z0-9 ._:/()#,@[\]+=&;{}!$*-]{1,200}$/, { error: "up to 200 letters, digits and usual signs" })
    .describe("What it is for."),
  machines: z.enum(["all", "controlPlane", "worker"]).default("all").describe("Machines that have the rule."),
  protocol: z.enum(["tcp", "udp", "icmp", "all"]).default("tcp").describe("Protocol."),
  ports: z
    .union([count(1, 65_535), z.string().regex(/^\d{1,5}-\d{1,5}$/)], {
      error: "a port, or a range such as 30000-32767",
    })
    .optional()
    .describe("Port or range of ports, for tcp and udp."),
  cidrs: z.array(cidr).min(1).describe("Networks on the other side."),
});

const roleFields = {
  policyArns: z
    .array(arn("iam", "policy/.+", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"))
    .default([])
    .describe("Further policies of the role."),
  instanceProfile: z
    .string()
    .regex(/^[\w+=,.@-]{1,128}$/, { error: "the name of an instance profile" })
    .optional()
    .describe("An existing instance profile, in place of a role that is made. It needs the permissions itself."),
};

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
      .union([count(1, 6), z.array(zone).min(1)], {
        error: "a number of zones, or a list of their names",
      })
      .default(3)
      .describe(
        "Availability zones that the machines are spread over: which, or how many of the region's, by name. A new zone moves no machine; the machines of one that is removed are replaced.",
      ),
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
        private: z
          .boolean()
          .default(false)
          .describe("Whether it is a private zone of the VPC: the name is known only inside of it."),
      })
      .optional()
      .describe("Name of the Kubernetes API: <name>.<label>.<zone>. Default: the load balancer's own name."),
    deletionProtection: deletionProtection.describe(
      "Refuse to destroy the cluster and to remove its machines; AWS refuses to delete the load balancer and the control planes, too.",
    ),
    flowLogs: z.boolean().default(false).describe("Log the VPC's traffic for a year."),
    detailedMonitoring: z.boolean().default(true).describe("EC2 metrics by the minute."),
    backups: z
      .strictObject({
        expireDays: count(1, 3_650)
          .optional()
          .describe(
            "Days after which S3 itself deletes a backup, also the newest one. Default: never; `backup.keep` decides, and S3 keeps deleted ones for 30 more days.",
          ),
      })
      .optional()
      .describe("The bucket that is made for backups, where the section backup names no other place."),
    cloudControllerManager: z
      .boolean()
      .default(false)
      .describe(
        "Install the AWS cloud controller manager, which makes load balancers for services and removes nodes of terminated instances, with the permissions and node ids that it needs.",
      ),
    ebsCsi: z
      .boolean()
      .default(false)
      .describe(
        "Install the EBS CSI driver and the StorageClass gp3, with the permissions that it needs. Control planes then answer pods' metadata requests.",
      ),
    clusterAutoscaler: z
      .boolean()
      .default(false)
      .describe(
        "Install the cluster autoscaler, which starts machines of pools with scaling for pods that find no room, and drains and terminates those that are not needed. Needs cloudControllerManager.",
      ),
    securityGroupRules: z
      .strictObject({
        ingress: z.array(ownRule).default([]).describe("What else may reach machines."),
        egress: z
          .array(ownRule)
          .default([])
          .describe(
            "What else machines may reach. Without: their VPC, and HTTPS, time and the Kubernetes API anywhere.",
          ),
      })
      .prefault({})
      .describe("Rules of your own for the security groups of machines."),
    iam: z
      .strictObject({
        controlPlane: z.strictObject(roleFields).prefault({}).describe("Of control planes."),
        worker: z.strictObject(roleFields).prefault({}).describe("Of workers."),
      })
      .prefault({})
      .describe("What the roles of machines have in addition, or in their place."),
    volumeKmsKey: arn("kms", "(key|alias)/.+", "arn:aws:kms:eu-central-1:111122223333:key/…")
      .optional()
      .describe("Key for the disks of new machines. Default: the account's key for EBS."),
    provider,
    tags: z.record(z.string(), z.string()).default({}).describe("Tags on everything."),
  }),
  controlPlane: z.strictObject({ ...controlPlaneFields, ...hardware, ...poolFields }),
  worker,
  workers: z.array(worker).default([]),
} as const;
