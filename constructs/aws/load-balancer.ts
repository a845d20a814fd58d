// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { Construct } from "constructs";
import type { MachineRows } from "../cluster/index.ts";
import type { Addressable } from "../terraform/index.ts";
import { AwsResource } from "./bindings.ts";
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

/** A network load balancer in front of the control planes. */
export class LoadBalancer extends Construct {
  readonly dnsName: string;
  readonly hostedZoneId: string;
  readonly listeners: readonly Addressable[];
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
    this.dnsName = balancer.attribute("dns_name");
    this.hostedZoneId = balancer.attribute("zone_id");
    const listeners: Addressable[] = [];
    this.listeners = listeners;
    this.#groups = props.ports.map(({ name, port }) => {
      const group = new AwsResource(this, name, "aws_lb_target_group", {
        name: `${short}-${name === "kubernetes" ? "k8s" : name}`,
        port,
        protocol: "TCP",
        target_type: "instance",
        vpc_id: props.vpcId,
        // With the client's address kept, a control plane that reaches itself through the load balancer gets no answer.
        preserve_client_ip: "false",
        deregistration_delay: "30",
        health_check: { protocol: "TCP", port: String(port), interval: 10 },
        tags: { Name: `${props.clusterName}-${name}` },
      });
      const listener = new AwsResource(this, `${name}-listener`, "aws_lb_listener", {
        load_balancer_arn: balancer.arn,
        port,
        protocol: "TCP",
        default_action: { type: "forward", target_group_arn: group.arn },
        tags: { Name: `${props.clusterName}-${name}` },
      });
      listeners.push(listener);
      return { name, port, arn: group.arn };
    });
  }

  /** Makes the machines of a pool targets, with resources below `pool`. */
  addTargets(pool: Construct, { each, forEach }: MachineRows, instances: AwsResource<"aws_instance">): Addressable[] {
    return this.#groups.map(
      ({ name, port, arn }) =>
        new AwsResource(
          pool,
          `${name}-target`,
          "aws_lb_target_group_attachment",
          { target_group_arn: arn, target_id: instances.instance(each.key, "id"), port },
          { forEach },
        ),
    );
  }
}

/** AWS allows 32 characters for these names, and one of each in a region: a long one is cut and marked. */
function shortName(name: string): string {
  if (name.length <= 22) return name;
  const mark = createHash("sha256").update(name).digest("hex").slice(0, 6);
  return `${name.slice(0, 15).replace(/-+$/, "")}-${mark}`;
}
