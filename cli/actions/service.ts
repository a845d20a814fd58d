// SPDX-License-Identifier: Apache-2.0
import type { ServiceState } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { CommandContext } from "../context.ts";
import type { ReportedFlags } from "../machine/target-flags.ts";
import { changeEachTarget, forEachTarget } from "../machine/targets.ts";
import { goDuration } from "../output/go-forms.ts";
import { jsonText, table } from "../output/table.ts";

export type ServiceAction = "start" | "stop" | "restart" | "status";

interface Found {
  readonly node: string;
  readonly service: ServiceState;
}

/** Shows or changes services, as `talosctl service` does and prints it. */
export async function service(
  id: string | undefined,
  action: ServiceAction,
  flags: ReportedFlags,
  context: CommandContext,
): Promise<void> {
  if (action !== "status" && id !== undefined) return change(id, action, flags, context);
  const found: Found[] = [];
  await forEachTarget(flags, context, async ({ node, client, call }) => {
    const services = await client.serviceList(call);
    found.push(...services.filter((one) => id === undefined || one.id === id).map((one) => ({ node, service: one })));
  });
  if (id !== undefined && found.length === 0)
    throw new TalosError("not-found", `service "${id}" is not registered on any nodes`);
  if (flags.json) return context.stdout.write(jsonText({ v: 1, services: found.map(dataOf) }));
  const now = context.clock.now();
  context.stdout.write(id === undefined ? listText(found, now) : found.map((one) => detailText(one, now)).join(""));
}

async function change(
  id: string,
  action: Exclude<ServiceAction, "status">,
  flags: ReportedFlags,
  context: CommandContext,
): Promise<void> {
  const responses: { readonly node: string; readonly response: string }[] = [];
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    responses.push({ node, response: await client.service(id, action, call) });
  });
  const rows = responses.map(({ node, response }) => [node, response]);
  context.stdout.write(flags.json ? jsonText({ v: 1, responses }) : table(["node", "response"], rows));
}

function healthOf({ healthUnknown, healthy }: ServiceState): "?" | "OK" | "Fail" {
  if (healthUnknown) return "?";
  return healthy ? "OK" : "Fail";
}

const ago = (at: Date, now: Date) => `${goDuration(now.getTime() - at.getTime())} ago`;

function listText(found: readonly Found[], now: Date): string {
  const rows = found.map(({ node, service }) => {
    const last = service.events.at(-1);
    const change = last === undefined ? " ago" : ago(last.at, now);
    return [node, service.id, service.state, healthOf(service), change, last?.message ?? "<none>"];
  });
  return table(["node", "service", "state", "health", "last change", "last event"], rows);
}

function detailText({ node, service }: Found, now: Date): string {
  const events = [...service.events]
    .reverse()
    .map(({ state, message, at }, index) => [index === 0 ? "EVENTS" : "", `[${state}]: ${message} (${ago(at, now)})`]);
  const [first = [], ...rows] = [
    ["NODE", node],
    ["ID", service.id],
    ["STATE", service.state],
    ["HEALTH", healthOf(service)],
    ...(service.message === "" ? [] : [["LAST HEALTH MESSAGE", service.message]]),
    ...events,
  ].map((row) => row.map(oneLine));
  const width = Math.max(...[first, ...rows].map(([label = ""]) => label.length));
  return [first, ...rows].map(([label = "", value = ""]) => `${label.padEnd(width)}   ${value}\n`).join("");
}

function dataOf({ node, service }: Found) {
  const { id, state, message, events } = service;
  const health = { OK: "healthy", Fail: "failed", "?": "unknown" }[healthOf(service)];
  return { node, id, state, health, message, events: events.map((one) => ({ ...one, at: one.at.toISOString() })) };
}
