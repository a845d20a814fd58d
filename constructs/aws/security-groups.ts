// SPDX-License-Identifier: Apache-2.0
import { Token } from "cdktn";
import { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { refuse } from "../errors.ts";
import type { Addressable } from "../terraform/index.ts";
import { AwsResource, type SecurityGroupRuleArguments } from "./bindings.ts";
import { clusterTag } from "./policy.ts";
import { everyNode, type Peer, type PortRule, talosFromLoadBalancer } from "./ports.ts";
import { unreservedName } from "./unreserved-name.ts";

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
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A rule of one's own for the security groups of machines. */
export interface SecurityRuleProps {
  /** What it is for. */
  readonly description: string;
  /** Machines that have the rule. @default all */
  readonly machines?: "all" | "controlPlane" | "worker";
  /** Protocol. @default tcp */
  readonly protocol?: "tcp" | "udp" | "icmp" | "all";
  /** Port or range such as `30000-32767`, for tcp and udp. @default - none */
  readonly ports?: number | string | undefined;
  /** Networks on the other side. */
  readonly cidrs: readonly string[];
}

/** Traffic that machines may have in addition. Set `cidrs`, `securityGroups` or both. */
export interface AwsTrafficProps extends Omit<SecurityRuleProps, "cidrs"> {
  /** Into the machines, or out of them. @default ingress */
  readonly direction?: "ingress" | "egress";
  /** Networks on the other side. @default - none */
  readonly cidrs?: readonly string[];
  /** Ids of security groups on the other side; may be references. @default - none */
  readonly securityGroups?: readonly string[];
}

/** A security group, for resources of your own. */
export interface AwsSecurityGroup {
  /** Its id, a reference. */
  readonly id: string;
}

/** The security groups of a cluster. */
export interface AwsSecurityGroups {
  /** Of the control planes. */
  readonly controlPlane: AwsSecurityGroup;
  /** Of the workers. */
  readonly worker: AwsSecurityGroup;
  /** Of the load balancer in front of the control planes. */
  readonly loadBalancer: AwsSecurityGroup;
}

const anywhere = "0.0.0.0/0";

/** Security groups of control planes, workers and load balancer, each rule a resource of its own. */
export class SecurityGroups extends Construct {
  readonly ids: Readonly<Record<Peer, string>>;
  /** All rules so far. */
  readonly rules: Addressable[] = [];
  /** Group, port and network of each rule for a network: the same one twice is refused by AWS. */
  readonly #letIn = new Set<string>();
  /** Groups and ports of machines that the load balancer reaches. */
  readonly #passed = new Set(["controlPlane 6443"]);

  constructor(scope: Construct, id: string, props: SecurityGroupsProps) {
    super(scope, id);
    const create = (peer: string, description: string, tags: { readonly [key: string]: string }) =>
      new AwsResource(this, peer, "aws_security_group", {
        name: `${unreservedName(props.clusterName)}-${peer}`,
        description,
        vpc_id: props.vpcId,
        tags: { Name: `${props.clusterName}-${peer}`, ...tags },
      }).id;
    // The cloud controller manager opens these to the load balancers that it makes for services.
    const ofMachines = { [clusterTag(props.clusterName)]: "owned" };
    this.ids = {
      controlPlane: create("control-plane", `Control planes of ${props.clusterName}`, ofMachines),
      worker: create("worker", `Workers of ${props.clusterName}`, ofMachines),
      loadBalancer: create("load-balancer", `Load balancer of ${props.clusterName}`, {}),
    };
    for (const rule of props.ports) this.allowPeers(rule);
    if (props.talosThroughLoadBalancer) {
      this.allowPeers(talosFromLoadBalancer);
      this.#passed.add("controlPlane 50000");
    }
    this.#letOut(props);
  }

  /** Lets networks in to one port where they are not yet, and tells the new rules. `id` tells them from others. */
  allowCidrs(
    id: string,
    peer: Peer,
    port: number,
    description: string,
    cidrs: readonly string[],
  ): readonly Addressable[] {
    return cidrs.flatMap((cidr, index) => {
      const key = `${peer} ${port} ${cidr}`;
      if (this.#letIn.has(key)) return [];
      this.#letIn.add(key);
      return this.#rule("ingress", `${kebab(peer)}-${id}-${index + 1}`, peer, {
        description,
        ...portArguments({ protocol: "tcp", from: port, to: port }),
        cidr_ipv4: cidr,
      });
    });
  }

  /** Lets other groups in to one port. */
  allowPeers({ name, description, protocol, ports, to: targets, from: sources }: PortRule): void {
    const port = portArguments({ protocol, from: ports?.[0], to: ports?.[1] });
    for (const target of targets)
      for (const source of sources)
        this.#rule("ingress", `${kebab(target)}-${name}-from-${kebab(source)}`, target, {
          description: `${description}, from ${words(source)}`,
          ...port,
          referenced_security_group_id: this.ids[source],
        });
  }

  /** Adds rules of one's own. They are named by what they open, so that one more changes no other. */
  addRules(way: "ingress" | "egress", rules: readonly AwsTrafficProps[]): void {
    for (const { description, machines = "all", protocol = "tcp", ports, cidrs = [], securityGroups = [] } of rules) {
      const peers = machines === "all" ? everyNode : [machines];
      const [from, to = from] = portsOf(protocol, ports);
      const port = portArguments({ protocol: protocol === "all" ? "-1" : protocol, from, to });
      const sides = [
        ...named(description, cidrs).map(([name, cidr_ipv4]) => ({ name, side: { cidr_ipv4 } })),
        ...named(description, securityGroups).map(([name, id]) => ({
          ...{ name, side: { referenced_security_group_id: id } },
        })),
      ];
      for (const peer of peers)
        for (const { name, side } of sides) {
          const id = `${kebab(peer)}-own-${way}-${protocol}-${ports ?? ""}-${name}`.replaceAll(/[^a-z0-9]+/g, "-");
          if (this.node.tryFindChild(id) !== undefined)
            refuse(
              this,
              `found a second ${way} rule for "${description}"; expected each once, with a description of its own`,
            );
          this.#rule(way, id, peer, { description, ...port, ...side });
        }
    }
  }

  /** Lets networks in to a port of the load balancer, and the load balancer through to machines. */
  openListener(target: "controlPlane" | "worker", port: number, targetPort: number, cidrs: readonly string[]): void {
    const args = portArguments({ protocol: "tcp", from: targetPort, to: targetPort });
    const description = `Port ${port} of the load balancer`;
    this.allowCidrs(`port-${port}`, "loadBalancer", port, description, cidrs);
    // Two ports of the load balancer may lead to the same port of machines: AWS refuses the same rule twice.
    const key = `${target} ${targetPort}`;
    if (this.#passed.has(key)) return;
    this.#passed.add(key);
    this.#rule("egress", `load-balancer-to-${kebab(target)}-${targetPort}`, "loadBalancer", {
      ...{ description, ...args },
      referenced_security_group_id: this.ids[target],
    });
    this.#rule("ingress", `${kebab(target)}-${targetPort}-from-load-balancer`, target, {
      ...{ description, ...args },
      referenced_security_group_id: this.ids.loadBalancer,
    });
  }

  /** Machines may speak to their network and, outside, HTTPS and time; the load balancer to its targets alone. */
  #letOut({ vpcCidr, loadBalancerIsPublic, talosThroughLoadBalancer }: SecurityGroupsProps): void {
    const tcp = (port: number) => portArguments({ protocol: "tcp", from: port, to: port });
    for (const peer of ["controlPlane", "worker"] as const) {
      const out = (name: string, description: string, port: Ports, cidr = anywhere) =>
        this.#rule("egress", `${kebab(peer)}-${name}-out`, peer, { description, ...port, cidr_ipv4: cidr });
      out("vpc", "Everything inside the network", { ip_protocol: "-1" }, vpcCidr);
      out("https", "Images, factory, discovery", tcp(443));
      out("ntp", "Time", portArguments({ protocol: "udp", from: 123, to: 123 }));
      if (loadBalancerIsPublic) out("kubernetes", "Kubernetes API by its public name", tcp(6443));
    }
    for (const port of talosThroughLoadBalancer ? [6443, 50000] : [6443])
      this.#rule("egress", `load-balancer-${port}-out`, "loadBalancer", {
        description: `Port ${port} of the control planes`,
        ...tcp(port),
        referenced_security_group_id: this.ids.controlPlane,
      });
  }

  #rule(
    way: "ingress" | "egress",
    id: string,
    peer: Peer,
    args: Omit<SecurityGroupRuleArguments, "security_group_id">,
  ): Addressable {
    const rule = new AwsResource(this, id, `aws_vpc_security_group_${way}_rule`, {
      security_group_id: this.ids[peer],
      ...args,
    });
    this.rules.push(rule);
    return rule;
  }
}

type Ports = Pick<SecurityGroupRuleArguments, "ip_protocol" | "from_port" | "to_port">;

function portArguments({ protocol, from, to }: Port): Ports {
  return { ip_protocol: protocol, ...given({ from_port: from, to_port: to }) };
}

/** First and last port; of ICMP all types and codes. */
function portsOf(protocol: string, ports: number | string | undefined): readonly number[] {
  if (protocol === "icmp") return [-1];
  return ports === undefined ? [] : String(ports).split("-").map(Number);
}

/** What names a rule in addresses: the other side, or what it is for where that is a reference. */
function named(description: string, sides: readonly string[]): readonly (readonly [string, string])[] {
  return sides.map((side, index) => {
    const name = Token.isUnresolved(side) ? `${description}${index === 0 ? "" : ` ${index + 1}`}` : side;
    return [name.toLowerCase(), side];
  });
}

const kebab = (peer: Peer) => peer.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const words = (peer: Peer) =>
  peer === "loadBalancer" ? "the load balancer" : peer === "worker" ? "workers" : "control planes";
