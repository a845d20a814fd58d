// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { type AwsZones, Cidr, zoneNames, zoneNumber } from "../../model/index.ts";
import { ConstructAssumptionError } from "../errors.ts";
import type { Addressable } from "../terraform/index.ts";
import { AwsResource } from "./bindings.ts";
import { clusterTag } from "./policy.ts";

/** A VPC to create. */
export interface NewVpc {
  /** Its network. @default 10.0.0.0/16 */
  readonly cidr?: string;
  /** NAT gateways of the private subnets: one for all zones, or one per zone. @default one */
  readonly natGateways?: "one" | "per-zone";
}

/** An existing VPC with one subnet per zone. */
export interface ExistingVpc {
  /** Its id. */
  readonly id: string;
  /** Its network. */
  readonly cidr: string;
  /** Public subnets, one per zone. @default - none */
  readonly publicSubnetIds?: readonly string[];
  /** Private subnets, one per zone. @default - none */
  readonly privateSubnetIds?: readonly string[];
  /**
   * Networks from which traffic of the private subnets reaches the internet, such as the NAT gateways' addresses.
   * @default - none
   */
  readonly natCidrs?: readonly string[];
}

export interface AwsNetworkProps {
  readonly clusterName: string;
  readonly vpc: NewVpc | ExistingVpc;
  readonly zones: AwsZones;
  /** Whether there are machines in private subnets, which then need a way out. */
  readonly privateMachines: boolean;
}

/** A VPC, for resources of your own. */
export interface AwsVpc {
  /** Its id; a reference where it is created. */
  readonly id: string;
  /** Its network. */
  readonly cidr: string;
}

/** A subnet, for resources of your own. */
export interface AwsSubnet {
  /** Its id; a reference where it is created. */
  readonly id: string;
  /** Its availability zone. */
  readonly zone: string;
}

/** The subnets of a VPC, in the order of the zones. */
export interface AwsSubnets {
  /** With a route to the internet gateway. */
  readonly public: readonly AwsSubnet[];
  /** With a route through a NAT gateway; none where all machines have public addresses. */
  readonly private: readonly AwsSubnet[];
}

/** VPC, subnets and gateways: made, or taken as they are. */
export class AwsNetwork extends Construct {
  readonly vpcId: string;
  readonly cidr: string;
  /** Names of the zones. */
  readonly zones: readonly string[];
  readonly publicSubnetIds: readonly string[];
  readonly privateSubnetIds: readonly string[];
  /** Routes that are made, and which subnets have them. */
  readonly routes: Addressable[] = [];
  /** Networks from which machines in private subnets come when they go out and back in. */
  readonly natCidrs: readonly string[];
  readonly #numbers: AwsZones;
  readonly #tableIds: string[] = [];

  constructor(scope: Construct, id: string, props: AwsNetworkProps) {
    super(scope, id);
    const { vpc } = props;
    this.cidr = vpc.cidr ?? "10.0.0.0/16";
    this.#numbers = props.zones;
    this.zones = zoneNames(props.zones);
    if ("id" in vpc) {
      this.vpcId = vpc.id;
      this.publicSubnetIds = vpc.publicSubnetIds ?? [];
      this.privateSubnetIds = vpc.privateSubnetIds ?? [];
      this.natCidrs = vpc.natCidrs ?? [];
      return;
    }
    const { clusterName, privateMachines } = props;
    const made = new AwsResource(this, "vpc", "aws_vpc", {
      cidr_block: this.cidr,
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
    this.publicSubnetIds = this.#createSubnets("public", clusterName, made.id);
    this.#createRoutes("public", clusterName, made.id, this.publicSubnetIds, [
      { number: 1, route: { gateway_id: gateway.id } },
    ]);
    // What goes to S3 needs no NAT gateway then, which asks money for each byte; the endpoint itself is free.
    new AwsResource(this, "s3", "aws_vpc_endpoint", () => ({
      vpc_id: made.id,
      service_name: `com.amazonaws.${props.zones.region}.s3`,
      vpc_endpoint_type: "Gateway",
      route_table_ids: this.#tableIds,
      tags: { Name: `${clusterName}-s3` },
    }));
    if (!privateMachines) {
      this.privateSubnetIds = [];
      this.natCidrs = [];
      return;
    }
    this.privateSubnetIds = this.#createSubnets("private", clusterName, made.id);
    const nats = this.#createNats(clusterName, vpc.natGateways ?? "one", gateway);
    this.natCidrs = nats.map(({ address }) => `${address}/32`);
    this.#createRoutes(
      "private",
      clusterName,
      made.id,
      this.privateSubnetIds,
      nats.map(({ number, id }) => ({ number, route: { nat_gateway_id: id } })),
    );
  }

  /** All subnets, with their zones. */
  get all(): AwsSubnets {
    const listed = (ids: readonly string[]) => ids.map((id, index) => ({ id, zone: this.zones[index] ?? "" }));
    return { public: listed(this.publicSubnetIds), private: listed(this.privateSubnetIds) };
  }

  /** The subnets of zones, in their order. A VPC that exists may lack some; a rule refuses it once all pools are known. */
  subnets(kind: "public" | "private", zones: readonly string[]): readonly string[] {
    const list = kind === "public" ? this.publicSubnetIds : this.privateSubnetIds;
    return zones.flatMap((zone) => list[this.zones.indexOf(zone)] ?? []);
  }

  /** Each zone gets a public subnet of a sixty-fourth and a private one of an eighth of the VPC. */
  #createSubnets(kind: "public" | "private", name: string, vpcId: string): readonly string[] {
    const cidr = Cidr.parse(this.cidr);
    const role = kind === "public" ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb";
    return this.zones.map((zone) => {
      const number = zoneNumber(this.#numbers, zone);
      const subnet =
        kind === "public" ? cidr.subnet(cidr.prefix + 6, number - 1) : cidr.subnet(cidr.prefix + 3, number);
      if (subnet === undefined) throw new ConstructAssumptionError(this, `no room for the ${kind} subnet in ${zone}`);
      return new AwsResource(this, `${kind}-${number}`, "aws_subnet", {
        vpc_id: vpcId,
        cidr_block: subnet.toString(),
        availability_zone: zone,
        map_public_ip_on_launch: false,
        tags: { Name: `${name}-${kind}-${number}`, [clusterTag(name)]: "shared", [role]: "1" },
      }).id;
    });
  }

  #createNats(name: string, gateways: "one" | "per-zone", internet: AwsResource<"aws_internet_gateway">) {
    return this.zones.slice(0, gateways === "one" ? 1 : undefined).map((zone, index) => {
      const number = gateways === "one" ? 1 : zoneNumber(this.#numbers, zone);
      const tags = { Name: `${name}-nat-${number}` };
      const address = new AwsResource(this, `nat-${number}-address`, "aws_eip", { domain: "vpc", tags });
      const nat = new AwsResource(
        this,
        `nat-${number}`,
        "aws_nat_gateway",
        { allocation_id: address.id, subnet_id: this.publicSubnetIds[index] ?? "", tags },
        { dependsOn: [internet] },
      );
      return { number, id: nat.id, address: address.attribute("public_ip") };
    });
  }

  #createRoutes(
    kind: "public" | "private",
    name: string,
    vpcId: string,
    subnetIds: readonly string[],
    targets: readonly RouteTarget[],
  ): void {
    const tables = targets.map(({ number, route }) => {
      const id = kind === "public" ? "public" : `private-${number}-routes`;
      const table = new AwsResource(this, id, "aws_route_table", {
        vpc_id: vpcId,
        tags: { Name: `${name}-${kind}-${number}` },
      });
      const args = { route_table_id: table.id, destination_cidr_block: "0.0.0.0/0", ...route };
      this.routes.push(new AwsResource(this, `${id}-default`, "aws_route", args));
      this.#tableIds.push(table.id);
      return table.id;
    });
    subnetIds.forEach((subnetId, index) => {
      const tableId = tables[index % tables.length] ?? "";
      const args = { route_table_id: tableId, subnet_id: subnetId };
      const id = `${kind}-${zoneNumber(this.#numbers, this.zones[index] ?? "")}-association`;
      this.routes.push(new AwsResource(this, id, "aws_route_table_association", args));
    });
  }
}

/** Where the default route of a table goes. */
interface RouteTarget {
  /** In the name of the table. */
  readonly number: number;
  readonly route: { readonly gateway_id: string } | { readonly nat_gateway_id: string };
}
