// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { Cidr } from "../../model/index.ts";
import { ConstructAssumptionError } from "../errors.ts";
import type { Addressable } from "../terraform/index.ts";
import { AwsDataSource, AwsResource } from "./bindings.ts";
import { clusterTag } from "./policy.ts";

/** A VPC to create. */
export interface NewVpc {
  /** Its network, such as `10.0.0.0/16`. */
  readonly cidr: string;
  /** NAT gateways of the private subnets: one for all zones, or one per zone. */
  readonly natGateways: "one" | "per-zone";
}

/** An existing VPC with one subnet per zone. */
export interface ExistingVpc {
  /** Its id. */
  readonly id: string;
  /** Its network. */
  readonly cidr: string;
  /** Public subnets, one per zone. */
  readonly publicSubnetIds: readonly string[];
  /** Private subnets, one per zone. */
  readonly privateSubnetIds: readonly string[];
  /** Networks from which traffic of the private subnets reaches the internet, such as the NAT gateways' addresses. */
  readonly natCidrs: readonly string[];
}

export interface AwsNetworkProps {
  readonly clusterName: string;
  readonly vpc: NewVpc | ExistingVpc;
  readonly zones: number | readonly string[];
  /** Whether there are machines in private subnets, which then need a way out. */
  readonly privateMachines: boolean;
}

/** VPC, subnets and gateways: made, or taken as they are. */
export class AwsNetwork extends Construct {
  readonly vpcId: string;
  readonly cidr: string;
  readonly zoneCount: number;
  readonly publicSubnetIds: readonly string[];
  readonly privateSubnetIds: readonly string[];
  /** Routes that are made, and which subnets have them. */
  readonly routes: Addressable[] = [];
  /** Networks from which machines in private subnets come when they go out and back in. */
  readonly natCidrs: readonly string[];

  constructor(scope: Construct, id: string, props: AwsNetworkProps) {
    super(scope, id);
    const { vpc, zones } = props;
    this.cidr = vpc.cidr;
    this.zoneCount = typeof zones === "number" ? zones : zones.length;
    if ("id" in vpc) {
      this.vpcId = vpc.id;
      this.publicSubnetIds = vpc.publicSubnetIds;
      this.privateSubnetIds = vpc.privateSubnetIds;
      this.natCidrs = vpc.natCidrs;
      return;
    }
    const { clusterName, privateMachines } = props;
    const made = new AwsResource(this, "vpc", "aws_vpc", {
      cidr_block: vpc.cidr,
      enable_dns_hostnames: true,
      enable_dns_support: true,
      tags: { Name: clusterName },
    });
    this.vpcId = made.id;
    // Without rules of its own, AWS's default group lets everything in it talk to everything.
    new AwsResource(this, "default", "aws_default_security_group", {
      vpc_id: made.id,
      tags: { Name: `${clusterName}-unused` },
    });
    const gateway = new AwsResource(this, "gateway", "aws_internet_gateway", {
      vpc_id: made.id,
      tags: { Name: clusterName },
    });
    const zoneNames = typeof zones === "number" ? this.#findZones(zones) : zones;
    this.publicSubnetIds = this.#createSubnets("public", clusterName, made.id, zoneNames);
    this.#createRoutes("public", clusterName, made.id, this.publicSubnetIds, [{ gateway_id: gateway.id }]);
    if (!privateMachines) {
      this.privateSubnetIds = [];
      this.natCidrs = [];
      return;
    }
    this.privateSubnetIds = this.#createSubnets("private", clusterName, made.id, zoneNames);
    const nats = this.#createNats(clusterName, vpc.natGateways, gateway);
    this.natCidrs = nats.map(({ address }) => `${address}/32`);
    this.#createRoutes(
      "private",
      clusterName,
      made.id,
      this.privateSubnetIds,
      nats.map(({ id }) => ({ nat_gateway_id: id })),
    );
  }

  /** The subnet of the `index`th machine, from zero: around the zones and around again. */
  subnet(kind: "public" | "private", index: number): string {
    const list = kind === "public" ? this.publicSubnetIds : this.privateSubnetIds;
    const subnet = list[index % this.zoneCount];
    if (subnet === undefined)
      throw new ConstructAssumptionError(this, `no ${kind} subnet at place ${index} of ${list.length}`);
    return subnet;
  }

  #findZones(count: number): readonly string[] {
    // Local and wavelength zones lack most of what is needed here.
    const found = new AwsDataSource(this, "zones", "aws_availability_zones", {
      state: "available",
      filter: [{ name: "opt-in-status", values: ["opt-in-not-required"] }],
    });
    return Array.from({ length: count }, (_, index) => found.item("names", index));
  }

  /** Each zone gets a public subnet of a sixty-fourth and a private one of an eighth of the VPC. */
  #createSubnets(kind: "public" | "private", name: string, vpcId: string, zones: readonly string[]): readonly string[] {
    const cidr = Cidr.parse(this.cidr);
    const role = kind === "public" ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb";
    return zones.map((zone, index) => {
      const subnet = kind === "public" ? cidr.subnet(cidr.prefix + 6, index) : cidr.subnet(cidr.prefix + 3, index + 1);
      if (subnet === undefined) throw new ConstructAssumptionError(this, `no room for the ${kind} subnet ${index + 1}`);
      return new AwsResource(this, `${kind}-${index + 1}`, "aws_subnet", {
        vpc_id: vpcId,
        cidr_block: subnet.toString(),
        availability_zone: zone,
        map_public_ip_on_launch: false,
        tags: { Name: `${name}-${kind}-${index + 1}`, [clusterTag(name)]: "shared", [role]: "1" },
      }).id;
    });
  }

  #createNats(name: string, gateways: "one" | "per-zone", internet: AwsResource<"aws_internet_gateway">) {
    const count = gateways === "one" ? 1 : this.zoneCount;
    return Array.from({ length: count }, (_, index) => {
      const tags = { Name: `${name}-nat-${index + 1}` };
      const address = new AwsResource(this, `nat-${index + 1}-address`, "aws_eip", { domain: "vpc", tags });
      const subnetId = this.subnet("public", index);
      const nat = new AwsResource(
        this,
        `nat-${index + 1}`,
        "aws_nat_gateway",
        { allocation_id: address.id, subnet_id: subnetId, tags },
        { dependsOn: [internet] },
      );
      return { id: nat.id, address: address.attribute("public_ip") };
    });
  }

  #createRoutes(
    kind: "public" | "private",
    name: string,
    vpcId: string,
    subnetIds: readonly string[],
    targets: readonly ({ readonly gateway_id: string } | { readonly nat_gateway_id: string })[],
  ): void {
    const tables = targets.map((target, index) => {
      const id = kind === "public" ? "public" : `private-${index + 1}-routes`;
      const table = new AwsResource(this, id, "aws_route_table", {
        vpc_id: vpcId,
        tags: { Name: `${name}-${kind}-${index + 1}` },
      });
      const args = { route_table_id: table.id, destination_cidr_block: "0.0.0.0/0", ...target };
      this.routes.push(new AwsResource(this, `${id}-default`, "aws_route", args));
      return table.id;
    });
    subnetIds.forEach((subnetId, index) => {
      const tableId = tables[index % tables.length] ?? "";
      const args = { route_table_id: tableId, subnet_id: subnetId };
      this.routes.push(new AwsResource(this, `${kind}-${index + 1}-association`, "aws_route_table_association", args));
    });
  }
}
