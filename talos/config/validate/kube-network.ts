// SPDX-License-Identifier: Apache-2.0
import { type Prefix, readPrefix } from "../document/network-address.ts";
import { type Section, textsAt, valueAt } from "../document/value.ts";
import { about, type Faults } from "./findings.ts";

/** Fewer host bits than these leave no room for anything. */
const fewestHostBits = 4;
/** kube-apiserver keeps one bit per service address. */
const mostServiceHostBits = 20;
/** kube-controller-manager keeps one bit per node. */
const mostNodeBits = 16;

/** Pod and service subnets, and how they are cut up among the nodes. */
export function* checkKubeNetwork(document: Section): Faults {
  const [pods, services] = [textsAt(document, "podSubnets"), textsAt(document, "serviceSubnets")];
  const ipv4 = nodeMask(document, "nodeCIDRMaskSizeIPv4", 24, 32);
  const ipv6 = nodeMask(document, "nodeCIDRMaskSizeIPv6", 64, 128);
  if (ipv4 === undefined) yield "nodeCIDRMaskSizeIPv4 must be between 1 and 32";
  if (ipv6 === undefined) yield "nodeCIDRMaskSizeIPv6 must be between 1 and 128";
  const podFault = subnetsFault(pods, (subnet) => podSizeFault(subnet, subnet.width === 128 ? ipv6 : ipv4));
  yield* about("pod subnets", podFault);
  yield* about("service subnets", subnetsFault(services, serviceSizeFault));
  if (pods.length !== services.length) yield "the number of pod subnets must match the number of service subnets";
}

/** Undefined when it is out of range. */
function nodeMask(document: Section, key: string, standard: number, most: number): number | undefined {
  const size = Number(valueAt(document, key) ?? 0);
  if (size === 0) return standard;
  return size >= 1 && size <= most ? size : undefined;
}

function subnetsFault(
  subnets: readonly string[],
  sizeFault: (subnet: Prefix) => string | undefined,
): string | undefined {
  if (subnets.length === 0) return "at least one subnet must be specified";
  if (subnets.length > 2) return "at most two subnets can be specified for dual-stack clusters";
  const read = subnets.map(readPrefix);
  for (const subnet of read) {
    const fault = subnet === undefined ? "invalid Prefix" : (formFault(subnet) ?? sizeFault(subnet));
    if (fault !== undefined) return `invalid subnet: ${fault}`;
  }
  return new Set(read.map((subnet) => subnet?.width)).size === subnets.length
    ? undefined
    : "at most one IPv4 and one IPv6 subnet can be specified for dual-stack clusters";
}

function formFault(subnet: Prefix): string | undefined {
  if (!subnet.masked) return `${subnet.text} is not a valid CIDR`;
  return subnet.width - subnet.bits < fewestHostBits
    ? `/${subnet.bits} is too small, it must be larger than /${subnet.bits - fewestHostBits}`
    : undefined;
}

function podSizeFault(subnet: Prefix, mask: number | undefined): string | undefined {
  if (mask === undefined) return undefined;
  if (subnet.bits > mask) return `${subnet.text} is smaller than the per-node pod CIDR mask size /${mask}`;
  const limit = `the difference must be at most ${mostNodeBits} bits`;
  return mask - subnet.bits > mostNodeBits
    ? `${subnet.text} is too large for the per-node pod CIDR mask size /${mask}, ${limit}`
    : undefined;
}

function serviceSizeFault(subnet: Prefix): string | undefined {
  const limit = `(at most ${mostServiceHostBits} host identifier bits)`;
  return subnet.width - subnet.bits > mostServiceHostBits
    ? `${subnet.text} is too large, it must be at least /${subnet.width - mostServiceHostBits} ${limit}`
    : undefined;
}
