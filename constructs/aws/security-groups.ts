// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings/index.ts";
import type { Peer, PortRule } from "./ports.ts";

export interface SecurityGroupsProps {
  readonly clusterName: string;
  readonly vpcId: string;
  readonly vpcCidr: string;
  readonly ports: readonly PortRule[];
  /** Whether the load balancer also passes on the Talos API. */
  readonly talosThroughLoadBalancer: boolean;
  /** Whether machines reach the load balancer over the internet. */
  readonly loadBalancerIsPublic: boolean;
}

interface Port {
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
}

const anywhere = "0.0.0.0/0";

/** Security groups of control planes, workers and load balancer, each rule a resource of its own. */
export class SecurityGroups extends Construct {
  readonly ids: Readonly<Record<Peer, string>>;

  constructor(scope: Construct, id: string, props: SecurityGroupsProps) {
    super(scope, id);
    const create = (peer: string, description: string) =>
      new AwsResource(this, peer, "aws_security_group", {
        name: `${props.clusterName}-${peer}`,
        description,
        vpc_id: props.vpcId,
        tags: { Name: `${props.clusterName}-${peer}` },
      }).id;
    this.ids = {
      controlPlane: create("control-plane", `Control planes of ${props.clusterName}`),
      worker: create("worker", `Workers of ${props.clusterName}`),
      loadBalancer: create("load-balancer", `Load balancer of ${props.clusterName}`),
    };
    for (const rule of props.ports) this.#allowPeers(rule);
    if (props.talosThroughLoadBalancer) {
      const talos: PortRule = {
        name: "talos",
        description: "Talos API",
        protocol: "tcp",
        ports: [50000, 50000],
        to: ["controlPlane"],
        from: ["loadBalancer"],
      };
      this.#allowPeers(talos);
    }
    this.#letOut(props);
  }

  /** Lets networks in to one port. `id` tells the rule from others. */
  allowCidrs(id: string, peer: Peer, port: number, description: string, cidrs: readonly string[]): void {
    cidrs.forEach((cidr, index) => {
      new AwsResource(this, `${kebab(peer)}-${id}-${index + 1}`, "aws_vpc_security_group_ingress_rule", {
        security_group_id: this.ids[peer],
        description,
        ...portArguments({ protocol: "tcp", from: port, to: port }),
        cidr_ipv4: cidr,
      });
    });
  }

  /** Lets other groups in to one port. */
  allowGroups(id: string, peer: Peer, port: number, description: string, sources: readonly Peer[]): void {
    for (const source of sources)
      new AwsResource(this, `${kebab(peer)}-${id}-from-${kebab(source)}`, "aws_vpc_security_group_ingress_rule", {
        security_group_id: this.ids[peer],
        description: `${description}, from ${words(source)}`,
        ...portArguments({ protocol: "tcp", from: port, to: port }),
        referenced_security_group_id: this.ids[source],
      });
  }

  #allowPeers({ name, description, protocol, ports: [from, to], to: targets, from: sources }: PortRule): void {
    for (const target of targets)
      for (const source of sources)
        new AwsResource(this, `${kebab(target)}-${name}-from-${kebab(source)}`, "aws_vpc_security_group_ingress_rule", {
          security_group_id: this.ids[target],
          description: `${description}, from ${words(source)}`,
          ...portArguments({ protocol, from, to }),
          referenced_security_group_id: this.ids[source],
        });
  }

  /** Machines may speak to their network and, outside, HTTPS and time; the load balancer to its targets alone. */
  #letOut({ vpcCidr, loadBalancerIsPublic, talosThroughLoadBalancer }: SecurityGroupsProps): void {
    for (const peer of ["controlPlane", "worker"] as const) {
      this.#out(peer, "vpc", "Everything inside the network", { ip_protocol: "-1" }, vpcCidr);
      this.#out(
        peer,
        "https",
        "Images, factory, discovery",
        portArguments({ protocol: "tcp", from: 443, to: 443 }),
        anywhere,
      );
      this.#out(peer, "ntp", "Time", portArguments({ protocol: "udp", from: 123, to: 123 }), anywhere);
      if (loadBalancerIsPublic)
        this.#out(
          peer,
          "kubernetes",
          "Kubernetes API by its public name",
          portArguments({ protocol: "tcp", from: 6443, to: 6443 }),
          anywhere,
        );
    }
    const targets = talosThroughLoadBalancer ? [6443, 50000] : [6443];
    for (const port of targets)
      new AwsResource(this, `load-balancer-${port}-out`, "aws_vpc_security_group_egress_rule", {
        security_group_id: this.ids.loadBalancer,
        description: `Port ${port} of the control planes`,
        ...portArguments({ protocol: "tcp", from: port, to: port }),
        referenced_security_group_id: this.ids.controlPlane,
      });
  }

  #out(
    peer: Peer,
    name: string,
    description: string,
    port: { readonly ip_protocol: string; readonly from_port?: number; readonly to_port?: number },
    cidr: string,
  ): void {
    new AwsResource(this, `${kebab(peer)}-${name}-out`, "aws_vpc_security_group_egress_rule", {
      security_group_id: this.ids[peer],
      description,
      ...port,
      cidr_ipv4: cidr,
    });
  }
}

function portArguments({ protocol, from, to }: Port) {
  return { ip_protocol: protocol, from_port: from, to_port: to };
}

const kebab = (peer: Peer) => peer.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const words = (peer: Peer) =>
  peer === "loadBalancer" ? "the load balancer" : peer === "worker" ? "workers" : "control planes";
