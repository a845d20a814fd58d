// SPDX-License-Identifier: Apache-2.0
import {
  type ServiceInfo,
  ServiceListResponse,
  ServiceRestartResponse,
  ServiceStartResponse,
  ServiceStopResponse,
} from "../../talos/api/gen/machine/events.ts";
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { CallError } from "../machine/call-error.ts";
import type { ServiceState } from "../machine/life.ts";
import type { Machine } from "../machine/world.ts";
import { type Call, type Handlers, timestampOf } from "./method.ts";

/** Services that a person may stop and start; the others belong to the system. */
const controllable: ReadonlySet<string> = new Set(["kubelet", "cri", "etcd", "trustd", "udevd", "syslogd"]);

export const serviceMethods: Handlers<typeof MachineServiceService> = {
  serviceList(call) {
    const services = Object.entries(call.machine().services)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, state]) => serviceInfo(id, state));
    return ServiceListResponse.fromPartial({ messages: [{ services }] });
  },

  serviceStart(call, { id }) {
    change(call, id, "start", (machine) => ({ ...machine, stopped: machine.stopped.filter((name) => name !== id) }));
    return ServiceStartResponse.fromPartial({ messages: [{ resp: `Service "${id}" started` }] });
  },

  serviceStop(call, { id }) {
    change(call, id, "stop", (machine) => ({ ...machine, stopped: [...new Set([...machine.stopped, id])] }));
    return ServiceStopResponse.fromPartial({ messages: [{ resp: `Service "${id}" stopped` }] });
  },

  serviceRestart(call, { id }) {
    change(call, id, "restart", (machine) => ({ ...machine, stopped: [...new Set([...machine.stopped, id])] }));
    change(call, id, "restart", (machine) => ({ ...machine, stopped: machine.stopped.filter((name) => name !== id) }));
    return ServiceRestartResponse.fromPartial({ messages: [{ resp: `Service "${id}" restarted` }] });
  },
};

function change(call: Call, id: string, verb: string, apply: (machine: Machine) => Machine): void {
  if (call.machine().services[id] === undefined) {
    throw new CallError("Unknown", `service "${id}" is not registered`);
  }
  if (!controllable.has(id)) {
    throw new CallError("Unknown", `service "${id}" doesn't support ${verb} operation via API`);
  }
  call.change(apply);
}

function serviceInfo(id: string, state: ServiceState): ServiceInfo {
  return {
    id,
    state: state.stage,
    events: {
      events: state.events.map((event) => ({ msg: event.message, state: event.state, ts: timestampOf(event.at) })),
    },
    health: {
      unknown: state.health === "unknown",
      healthy: state.health === "healthy",
      lastMessage: state.health === "unhealthy" ? state.lastMessage : "",
      lastChange: timestampOf(state.changedAt),
    },
  };
}
