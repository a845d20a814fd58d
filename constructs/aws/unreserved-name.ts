// SPDX-License-Identifier: Apache-2.0

/** EC2 refuses security groups whose names begin with `sg-`, and ELB load balancers that begin with `internal-`. */
export function unreservedName(name: string): string {
  return /^(sg|internal)-/.test(name) ? `talos-${name}` : name;
}
