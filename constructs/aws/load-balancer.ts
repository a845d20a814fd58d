// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { Construct } from "constructs";
import type { MachineRows, Pool } from "../cluster/index.ts";
import { refuse } from "../errors.ts";
import type { Addressable } from "../terraform/index.ts";
import { AwsResource } from "./bindings.ts";
import type { AwsPoolSettings } from "./props.ts";
import { unreservedName } from "./unreserved-name.ts";

export interface LoadBalancerProps {
  readonly clusterName: string;
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupId: string;
  readonly internal: boolean;
  readonly deletionProtection: boolean;
  /** Ports that are passed on to the control planes. */
  readonly ports: readonly LoadBalancerPort[];
}

interface LoadBalancerPort {
  readonly name: "kubernetes" | "talos";
  readonly port: number;
}

/** The load balancer in front of the control planes, for resources of your own. */
export interface AwsLoadBalancer {
  /** Its ARN, a reference. */
  readonly arn: string;
  /** Its DNS name, a reference. */
  readonly dnsName: string;
  /** Hosted zone of that name, for an alias record of Route 53; a reference. */
  readonly hostedZoneId: string;
}

/** A port of the load balancer for services of a cluster. */
export interface AwsListenerProps {
  /** Port of the load balancer. */
  readonly port: number;
  /** The pool whose machines answer; its cluster runs on this infrastructure. */
  readonly pool: Pool<AwsPoolSettings>;
  /** Port of the machines, such as the node port of an ingress controller. @default - the same */
  readonly targetPort?: number;
  /** Networks that may reach it. @default - the infrastructure's `adminCidrs` */
  readonly cidrs?: readonly string[];
}

/** What a load balancer sends traffic to: fixed machines, or an auto scaling group that registers its own. */
export type LoadBalancerTargets =
  | { readonly rows: MachineRows; readonly instances: AwsResource<"aws_instance"> }
  | { readonly scalingGroupName: string };

/** A network load balancer in front of the control planes. */
export class LoadBalancer extends Construct implements AwsLoadBalancer {
  readonly arn: string;
  readonly dnsName: string;
  readonly hostedZoneId: string;
  readonly listeners: readonly Addressable[];
  readonly #props: LoadBalancerProps;
  readonly #ports = new Set<number>();
  readonly #groups: readonly { readonly name: string; readonly port: number; readonly arn: string }[];

  constructor(scope: Construct, id: string, props: LoadBalancerProps) {
    super(scope, id);
    const short = shortName(unreservedName(props.clusterName));
    const balancer = new AwsResource(this, "Resource", "aws_lb", {
      name: `${short}-api`,
      load_balancer_type: "network",
      internal: props.internal,
      subnets: props.subnetIds,
      security_groups: [props.securityGroupId],
      enable_cross_zone_load_balancing: true,
      enable_deletion_protection: props.deletionProtection,
      tags: { Name: `${props.clusterName}-api` },
    });
    this.#props = props;
    this.arn = balancer.arn;
    this.dnsName = balancer.attribute("dns_name");
    this.hostedZoneId = balancer.attribute("zone_id");
    const listeners: Addressable[] = [];
    this.listeners = listeners;
    this.#groups = props.ports.map(({ name, port }) => {
      const made = this.#listen(name, name === "kubernetes" ? "k8s" : name, port, port);
      listeners.push(made.listener);
      return { name, port, arn: made.groupArn };
    });
  }

  /** Passes a port on to machines; their targets are made below `pool`. */
  addListener(pool: Construct, targets: LoadBalancerTargets, port: number, targetPort: number): void {
    const { groupArn } = this.#listen(`port-${port}`, String(port), port, targetPort);
    if ("scalingGroupName" in targets)
      new AwsResource(pool, `port-${port}-target`, "aws_autoscaling_attachment", {
        autoscaling_group_name: targets.scalingGroupName,
        lb_target_group_arn: groupArn,
      });
    else attach(pool, `port-${port}-target`, targets.rows, targets.instances, groupArn, targetPort);
  }

  #listen(id: string, suffix: string, port: number, targetPort: number) {
    if (this.#ports.has(port)) refuse(this, `found a second listener for port ${port}; expected one for each port`);
    this.#ports.add(port);
    const { clusterName, vpcId } = this.#props;
    const tags = { Name: `${clusterName}-${id}` };
    const group = new AwsResource(this, id, "aws_lb_target_group", {
      name: `${shortName(unreservedName(clusterName))}-${suffix}`,
      port: targetPort,
      protocol: "TCP",
      target_type: "instance",
      vpc_id: vpcId,
      // With the client's address kept, a machine that reaches itself through the load balancer gets no answer.
      preserve_client_ip: "false",
      deregistration_delay: "30",
      health_check: { protocol: "TCP", port: String(targetPort), interval: 10 },
      tags,
    });
    const listener = new AwsResource(this, `${id}-listener`, "aws_lb_listener", {
      load_balancer_arn: this.arn,
      port,
      protocol: "TCP",
      default_action: { type: "forward", target_group_arn: group.arn },
      tags,
    });
    return { listener, groupArn: group.arn };
  }

  /** Makes the machines of a pool targets, with resources below `pool`. */
  addTargets(pool: Construct, rows: MachineRows, instances: AwsResource<"aws_instance">): Addressable[] {
    return this.#groups.map(({ name, port, arn }) => attach(pool, `${name}-target`, rows, instances, arn, port));
  }
}

function attach(
  pool: Construct,
  id: string,
  { each, forEach }: MachineRows,
  instances: AwsResource<"aws_instance">,
  groupArn: string,
  port: number,
): Addressable {
  const args = { target_group_arn: groupArn, target_id: instances.instance(each.key, "id"), port };
  return new AwsResource(pool, id, "aws_lb_target_group_attachment", args, { forEach });
}

/** AWS allows 32 characters for these names, and one of each in a region: a long one is cut and marked. */
function shortName(name: string): string {
  if (name.length <= 22) return name;
  const mark = createHash("sha256").update(name).digest("hex").slice(0, 6);
  return `${name.slice(0, 15).replace(/-+$/, "")}-${mark}`;
}
