// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { type Environment, knownAddresses, type MachinePlan, machinesOf, zoneNames, zoneOrder } from "../index.ts";
import type { ElasticPool, Endpoint, Place, Topology, TopologyMachine } from "./topology.ts";

const controlPlanePorts = [
  { port: 6443, name: "Kubernetes API" },
  { port: 50000, name: "Talos API" },
  { port: 2379, name: "etcd" },
] as const;
const workerPorts = [{ port: 50000, name: "Talos API" }] as const;

/** What an environment will look like, from its file alone. */
export function topologyOf(environment: Environment): Topology {
  const network = networkOf(environment);
  return {
    cluster: environment.cluster.name,
    kind: environment.kind,
    endpoint: endpointOf(environment),
    ...given({ network }),
    places: placesOf(environment),
    elastic: elasticPools(environment),
  };
}

function placesOf(environment: Environment): readonly Place[] {
  const addresses = knownAddresses(environment);
  const elastic = new Set(elasticPools(environment).map(({ name }) => name));
  const names = placeNames(environment);
  const placeOf = ({ pool, index }: MachinePlan) => {
    const order = zonesOf(environment, pool);
    return order === undefined ? 0 : names.indexOf(order[(index - 1) % order.length] ?? "");
  };
  const places = names.map((name): { name: string; machines: TopologyMachine[] } => ({ name, machines: [] }));
  for (const machine of machinesOf(environment)) {
    if (elastic.has(machine.pool)) continue;
    places[placeOf(machine)]?.machines.push(topologyMachine(machine, addresses.get(machine.name)));
  }
  return places;
}

function topologyMachine({ name, role, pool }: MachinePlan, address: string | undefined): TopologyMachine {
  const ports = role === "controlplane" ? controlPlanePorts : workerPorts;
  return { name, role, pool, ...given({ address }), ports, state: "planned" };
}

/** The zones of a pool in the order of its machines; undefined where there are none. */
function zonesOf(environment: Environment, pool: string): readonly string[] | undefined {
  if (environment.kind !== "aws") return undefined;
  const { controlPlane, workers, infrastructure } = environment;
  const found = workers.find(({ name }) => name === pool) ?? controlPlane;
  return zoneOrder(pool, found?.zones ?? zoneNames(infrastructure));
}

/** Never empty. */
function placeNames(environment: Environment): readonly string[] {
  switch (environment.kind) {
    case "aws":
      return zoneNames(environment.infrastructure);
    case "libvirt":
      return [`KVM host ${environment.infrastructure.uri}`];
    case "simulated":
      return ["this computer"];
    case "metal":
      return ["machines by address"];
    case "container":
      return [environment.infrastructure.engine === "docker" ? "Docker" : "another Kubernetes"];
  }
}

function endpointOf(environment: Environment): Endpoint {
  const { cluster, joins } = environment;
  if (joins !== undefined) return { ...endpointOf(joins), through: `control plane of ${joins.name}`, machines: [] };
  const controlPlanes = machinesOf(environment).filter(({ role }) => role === "controlplane");
  const machines = controlPlanes.map(({ name }) => name);
  if (cluster.endpoint !== undefined) return { through: "endpoint", name: cluster.endpoint, ports: [], machines };
  if (environment.kind === "aws") {
    const { dns, access } = environment.infrastructure;
    const parts = dns === undefined ? [] : [dns.name, dns.label ?? environment.name, dns.zone];
    const name = parts.filter((part) => part !== "").join(".") || "its own name";
    return { through: "network load balancer", name, ports: access === "nlb" ? [6443, 50000] : [6443], machines };
  }
  const hasNetwork = environment.kind === "libvirt" || environment.kind === "metal";
  const vip = hasNetwork ? environment.infrastructure.network.vip : undefined;
  if (vip !== undefined) return { through: "virtual address", name: vip, ports: [6443], machines };
  const [first = ""] = machines;
  const name = knownAddresses(environment).get(first) ?? first;
  return { through: "first control plane", name, ports: [6443], machines: [first] };
}

function networkOf(environment: Environment): string | undefined {
  if (environment.kind === "libvirt") {
    const { mode, bridge, cidr } = environment.infrastructure.network;
    return mode === "bridge" ? `${cidr} on ${bridge}` : `${cidr}, NAT`;
  }
  if (environment.kind === "metal") return environment.infrastructure.network.cidr;
  if (environment.kind !== "aws") return undefined;
  const { id, cidr } = environment.infrastructure.vpc;
  return id === undefined ? `VPC ${cidr ?? "10.0.0.0/16"}` : `VPC ${id}`;
}

function elasticPools(environment: Environment): readonly ElasticPool[] {
  if (environment.kind !== "aws") return [];
  return environment.workers.flatMap(({ name, scaling }) => (scaling === undefined ? [] : [{ name, ...scaling }]));
}
