// SPDX-License-Identifier: Apache-2.0
import type { TerraformProvider } from "cdktn";
import type { Size } from "../../model/index.ts";
import type { Architecture } from "../../talos/image/index.ts";
import type { AwsAccountProps } from "./account.ts";
import type { AwsDnsProps } from "./dns.ts";
import type { AwsRoleProps } from "./iam.ts";
import type { ExistingVpc, NewVpc } from "./network.ts";
import type { SecurityRuleProps } from "./security-groups.ts";

/** Settings of a pool of EC2 instances. */
export interface AwsPoolSettings {
  /** EC2 instance type. @default - t3.large, or t4g.large on arm64 */
  readonly instanceType?: string | undefined;
  /** Processor architecture. @default - the infrastructure's */
  readonly architecture?: Architecture | undefined;
  /** Image that the machines boot from. @default - by Talos release and architecture */
  readonly ami?: string | undefined;
  /** Network hops to the instance metadata service; pods need 2. @default - 1, or 2 for control planes with ebsCsi */
  readonly metadataHopLimit?: number | undefined;
  /** System disk, such as `50GiB`. @default 20GiB */
  readonly disk?: Size;
  /** Zones of the pool; machines that exist stay in their zone. @default - all of the infrastructure */
  readonly zones?: readonly string[] | undefined;
  /** Further empty disks. @default - none */
  readonly extraDisks?: readonly {
    /** Size, such as `100GiB`. */
    readonly size: Size;
  }[];
  /** An auto scaling group in place of fixed machines. @default - fixed machines */
  readonly scaling?:
    | {
        /** Fewest instances. */
        readonly min: number;
        /** Most instances. */
        readonly max: number;
      }
    | undefined;
}

/** Network, access and shared resources of a cluster on AWS. */
export interface AwsInfrastructureProps {
  /** Name of the cluster that will run here; resources and tags carry it. @default - id of the stack */
  readonly clusterName?: string;
  /** AWS region. */
  readonly region: string;
  /** How many availability zones, or which. @default 3 */
  readonly zones?: number | readonly string[];
  /** Processor architecture of pools that set none. @default amd64 */
  readonly architecture?: Architecture;
  /** Image to start from. @default - Sidero Labs' image of the Talos release */
  readonly ami?: string | undefined;
  /** How the Talos API is reached. @default nlb */
  readonly access?: "public" | "nlb" | "private";
  /**
   * With access public: apply the initial config, which holds the CA keys, to whatever answers at a machine's public
   * address. @default false
   */
  readonly trustOnFirstUse?: boolean;
  /** Networks that may reach the Talos API, and the Kubernetes API from outside. @default - none */
  readonly adminCidrs?: readonly string[];
  /** Open the Kubernetes API to the whole internet. @default false */
  readonly kubernetesApiFromAnywhere?: boolean;
  /** Your tunnel or proxy to the Talos API, with access private. @default - none */
  readonly talosEndpoints?: readonly string[];
  /** The VPC to create or to use. @default - a VPC of its own, 10.0.0.0/16, one NAT gateway */
  readonly vpc?: NewVpc | ExistingVpc;
  /** Whether machines run in private subnets. @default - unless access is public */
  readonly privateMachines?: boolean;
  /** Name of the Kubernetes API. @default - the load balancer's own */
  readonly dns?: AwsDnsProps | undefined;
  /** Refuse to delete the load balancer and the control planes. @default false */
  readonly deletionProtection?: boolean;
  /** Log the traffic of the VPC to CloudWatch. @default false */
  readonly flowLogs?: boolean;
  /** Metrics of the instances every minute instead of every five. @default true */
  readonly detailedMonitoring?: boolean;
  /** A bucket for backups of etcd; pass `backupBucket` to the cluster's `addBackup`. @default - none */
  readonly backups?:
    | {
        /** Days after which S3 itself deletes a backup, also the newest one. @default - never */
        readonly expireDays?: number | undefined;
      }
    | undefined;
  /** Whether control planes may delete backups, for a talosmith there that prunes them. @default false */
  readonly prunesBackups?: boolean;
  /** Install the AWS cloud controller manager, with the permissions and node ids that it needs. @default false */
  readonly cloudControllerManager?: boolean;
  /** Install the EBS CSI driver and the StorageClass gp3, with the permissions that it needs. @default false */
  readonly ebsCsi?: boolean;
  /** Install the cluster autoscaler for pools with `scaling`. Needs `cloudControllerManager`. @default false */
  readonly clusterAutoscaler?: boolean;
  /** Rules of your own for the security groups of machines. @default - none */
  readonly securityGroupRules?: {
    /** What else may reach machines. @default - nothing */
    readonly ingress?: readonly SecurityRuleProps[];
    /** What else machines may reach. @default - their VPC, and HTTPS, time and the Kubernetes API anywhere */
    readonly egress?: readonly SecurityRuleProps[];
  };
  /** What the roles of machines have in addition, or in their place. @default - nothing */
  readonly iam?: {
    /** Of control planes. @default - nothing */
    readonly controlPlane?: AwsRoleProps;
    /** Of workers. @default - nothing */
    readonly worker?: AwsRoleProps;
  };
  /** ARN of the key for the disks of new machines. @default - the account's key for EBS */
  readonly volumeKmsKey?: string | undefined;
  /**
   * How Terraform's AWS provider gets at the account, or a provider block of yours for this region, which has its own
   * settings and default tags. @default - the credential chain, any account
   */
  readonly provider?: AwsAccountProps | TerraformProvider;
  /** Whether claims that name no class get an EBS volume, with `ebsCsi`. @default true */
  readonly ebsIsDefault?: boolean;
  /** Tags of all resources. @default - only names */
  readonly tags?: { readonly [key: string]: string };
  /** Which pod network's ports are open between machines. @default flannel */
  readonly podNetwork?: "flannel" | "cilium" | "calico" | "other";
  /** Whether the port of KubeSpan is open between machines. @default false */
  readonly kubespan?: boolean;
}
