// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import type { Addressable } from "../terraform/index.ts";
import { AwsDataSource, AwsResource } from "./bindings.ts";

/** The name of the Kubernetes API: `<name>.<label>.<zone>`. */
export interface AwsDnsProps {
  /** Hosted zone of Route 53. */
  readonly zone: string;
  /** Label between name and zone; may be empty. @default - the cluster's name */
  readonly label?: string;
  /** First label, such as `api`. @default k8s */
  readonly name?: string;
  /** Whether to create the zone; else it has to exist. @default false */
  readonly createZone?: boolean;
  /** Whether it is a private zone of the VPC. @default false */
  readonly private?: boolean;
}

interface DnsTarget {
  readonly clusterName: string;
  readonly vpcId: string;
  readonly target: { readonly dnsName: string; readonly hostedZoneId: string };
}

/** That name as a record in its zone. */
export class DnsName extends Construct {
  readonly fullName: string;
  readonly record: Addressable;

  constructor(scope: Construct, id: string, props: AwsDnsProps & DnsTarget) {
    super(scope, id);
    const { zone, label = props.clusterName, name = "k8s", createZone = false, target, vpcId } = props;
    const isPrivate = props.private === true;
    this.fullName = [name, label, zone].filter((part) => part !== "").join(".");
    const zoneId = createZone
      ? new AwsResource(this, "zone", "aws_route53_zone", {
          name: zone,
          ...(isPrivate ? { vpc: { vpc_id: vpcId } } : {}),
          tags: { Name: zone },
        }).attribute("zone_id")
      : new AwsDataSource(this, "zone", "aws_route53_zone", {
          name: zone,
          ...(isPrivate ? { private_zone: true, vpc_id: vpcId } : {}),
        }).attribute("zone_id");
    this.record = new AwsResource(this, "Resource", "aws_route53_record", {
      zone_id: zoneId,
      name: this.fullName,
      type: "A",
      alias: { name: target.dnsName, zone_id: target.hostedZoneId, evaluate_target_health: true },
    });
  }
}
