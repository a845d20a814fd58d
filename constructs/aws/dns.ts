// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import type { Addressable } from "../terraform/index.ts";
import { AwsDataSource, AwsResource } from "./bindings.ts";

export interface DnsProps {
  readonly zone: string;
  /** Between the name and the zone; may be empty. */
  readonly label: string;
  readonly name: string;
  /** Make the zone rather than find it. */
  readonly createZone: boolean;
  readonly target: { readonly dnsName: string; readonly hostedZoneId: string };
}

/** The name of the Kubernetes API: `<name>.<label>.<zone>`. */
export class DnsName extends Construct {
  readonly fullName: string;
  readonly record: Addressable;

  constructor(scope: Construct, id: string, { zone, label, name, createZone, target }: DnsProps) {
    super(scope, id);
    this.fullName = [name, label, zone].filter((part) => part !== "").join(".");
    const zoneId = createZone
      ? new AwsResource(this, "zone", "aws_route53_zone", { name: zone, tags: { Name: zone } }).attribute("zone_id")
      : new AwsDataSource(this, "zone", "aws_route53_zone", { name: zone }).attribute("zone_id");
    this.record = new AwsResource(this, "Resource", "aws_route53_record", {
      zone_id: zoneId,
      name: this.fullName,
      type: "A",
      alias: { name: target.dnsName, zone_id: target.hostedZoneId, evaluate_target_health: true },
    });
  }
}
