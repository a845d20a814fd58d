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
import { answer, type Call, type Handlers, timestampOf } from "./method.ts";

/** Services that a person may stop and start; the others belong to the system. */
const controllable: ReadonlySet<string> = new Set(["kubelet", "cri", "etcd", "trustd", "udevd", "syslogd"]);

export const serviceMethods: Handlers<typeof MachineServiceService> = {
  serviceList: answer(ServiceListResponse, (call) => ({
    services: Object.entries(call.machine().services)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, state]) => serviceInfo(id, state)),
  })),

  serviceStart: answer(ServiceStartResponse, (call, { id }) => {
    stop(call, id, "start", false);
    return { resp: `Service "${id}" started` };
  }),

  serviceStop: answer(ServiceStopResponse, (call, { id }) => {
    stop(call, id, "stop", true);
    return { resp: `Service "${id}" stopped` };
  }),

  serviceRestart: answer(ServiceRestartResponse, (call, { id }) => {
    stop(call, id, "restart", true);
    stop(call, id, "restart", false);
    return { resp: `Service "${id}" restarted` };
  }),
};

/** Stops a service, or lets it start again. */
function stop(call: Call, id: string, verb: string, stopped: boolean): void {
  if (call.machine().services[id] === undefined) {
    throw new CallError("Unknown", `service "${id}" is not registered`);
  }
  if (!controllable.has(id)) {
    throw new CallError("Unknown", `service "${id}" doesn't support ${verb} operation via API`);
  }
  call.change((machine) => {
    const others = machine.stopped.filter((name) => name !== id);
    return { ...machine, stopped: stopped ? [...others, id] : others };
  });
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
