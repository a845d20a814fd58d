// SPDX-License-Identifier: Apache-2.0
import type { EventListener } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import type { Operation } from "../framework/index.ts";
import type { Client } from "./client.ts";

/** What the engine tells goes to Terraform's log, and to whoever has started Terraform and follows a file. */
export async function eventsOf(
  cluster: string,
  { log, client }: Pick<Operation<Client>, "log" | "client">,
): Promise<EventListener> {
  const { eventFileVariable, eventsTo } = await import("../../engine/index.ts");
  const path = client.environment[eventFileVariable];
  const follower = path === undefined || path === "" ? undefined : eventsTo(path);
  return (event) => {
    const { type, message, machine } = event;
    const level = type === "step-failed" || type === "warning" ? "warn" : type === "waiting" ? "debug" : "info";
    log(level, message, { event: type, cluster, ...given({ machine }) });
    follower?.(event);
  };
}
