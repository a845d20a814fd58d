// SPDX-License-Identifier: Apache-2.0
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { type ConnectRecord, NetstatFilter, NetstatResponse } from "../../talos/api/gen/machine/netstat.ts";
import { clusterOf } from "../controllers/membership.ts";
import { etcdMemberOf, memberRuns } from "../machine/etcd.ts";
import { listeningPorts } from "../machine/listening-ports.ts";
import type { Machine, World } from "../machine/world.ts";
import { answer, type Handlers } from "./method.ts";

const established = 1;
const listening = 10;

type Socket = Partial<ConnectRecord> & { readonly process: { readonly pid: number; readonly name: string } };

/** The sockets that follow from what runs on the machine: who listens, and etcd's connections to its peers. */
function socketsOf(world: World, machine: Machine, now: number): readonly Socket[] {
  const owner = (service: string): Socket["process"] =>
    service === "machined" ? { pid: 1, name: "init" } : { pid: machine.services[service]?.pid ?? 0, name: service };
  const open = listeningPorts(machine, now).map(({ port, service, local }): Socket => {
    const everywhere = { l4proto: "tcp6", localip: "::", remoteip: "::" };
    const here = { l4proto: "tcp", localip: "127.0.0.1", remoteip: "0.0.0.0" };
    return { ...(local ? here : everywhere), localport: port, state: listening, process: owner(service) };
  });
  const cluster = clusterOf(world, machine);
  const own = etcdMemberOf(cluster, machine.id);
  const runs = own !== undefined && memberRuns(world, own);
  const peers = (runs ? (cluster?.etcd?.members ?? []) : []).filter(
    (member) => member.machine !== machine.id && memberRuns(world, member),
  );
  const connected = peers.map(
    ({ address }, index): Socket => ({
      l4proto: "tcp",
      localip: machine.address,
      localport: 32_768 + ((machine.services.etcd?.pid ?? 0) % 20_000) + index,
      remoteip: address,
      remoteport: 2_380,
      state: established,
      process: owner("etcd"),
    }),
  );
  return [...open, ...connected];
}

export const socketMethods: Handlers<typeof MachineServiceService> = {
  netstat: answer(NetstatResponse, (call, { filter, feature, l4proto }) => {
    const any = l4proto === undefined || Object.values(l4proto).every((wanted) => wanted !== true);
    const wanted = (socket: Socket): boolean =>
      (filter === NetstatFilter.ALL || (filter === NetstatFilter.LISTENING) === (socket.state === listening)) &&
      (any || (socket.l4proto === "tcp" ? l4proto.tcp : l4proto.tcp6));
    const connectrecord = socketsOf(call.world(), call.machine(), call.simulation.moment.now)
      .filter(wanted)
      .map(({ process, ...socket }) => (feature?.pid === true ? { ...socket, process } : socket));
    return { connectrecord };
  }),
};
