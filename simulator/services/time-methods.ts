// SPDX-License-Identifier: Apache-2.0
import { TimeResponse, type TimeServiceService } from "../../talos/api/gen/time/time.ts";
import { faultOf } from "../machine/fault.ts";
import { type Call, type Handlers, timestampOf } from "./method.ts";

export const timeMethods: Handlers<typeof TimeServiceService> = {
  time: (call) => compare(call, "time.cloudflare.com"),
  timeCheck: (call, { server }) => compare(call, server),
};

/** The machine's clock beside the true one; they differ under a clock fault. */
function compare(call: Call, server: string): TimeResponse {
  const { now } = call.simulation.moment;
  const skew = faultOf(call.machine().faults, "clock-skew", now)?.milliseconds ?? 0;
  return TimeResponse.fromPartial({
    messages: [{ server, localtime: timestampOf(now + skew), remotetime: timestampOf(now) }],
  });
}
