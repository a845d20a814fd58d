// SPDX-License-Identifier: Apache-2.0
import type { ServiceState } from "../../talos/api/index.ts";
import { oneLine } from "../../talos/plain-text.ts";

/** States of a service that has not come up; what it does then may last, such as fetching its image. */
const onItsWay: ReadonlySet<string> = new Set(["Waiting", "Preparing"]);

/**
 * What services of a machine that do not run report: `etcd: Failed to run pre stage …`. Where none has an error, the
 * last event of those that are on their way.
 */
export function serviceErrors(services: readonly ServiceState[]): readonly string[] {
  const errors = services.flatMap((service) => named(service, lastError(service)));
  if (errors.length > 0) return errors;
  return services.flatMap((service) => named(service, onItsWay.has(service.state) ? service.events.at(-1) : undefined));
}

/** The same, with volumes that have failed before them: services wait for those in vain. */
export function machineErrors(
  services: readonly ServiceState[],
  volumes: ReadonlyMap<string, string>,
): readonly string[] {
  const failed = [...volumes].map(([name, error]) => `volume ${name}: ${oneLine(error)}`);
  return [...failed, ...serviceErrors(services).map((error) => `service ${error}`)];
}

type Event = ServiceState["events"][number];

function named({ id }: ServiceState, event: Event | undefined): readonly string[] {
  return event === undefined ? [] : [`${id}: ${oneLine(event.message)}`];
}

/** States in which a service is where it should be, or was stopped on purpose. */
const settled: ReadonlySet<string> = new Set(["Finished", "Skipped", "Stopping"]);

/** The last error since the service was well; undefined for one that runs, as far as can be told. */
export function lastError({ state, healthy, healthUnknown, events }: ServiceState): Event | undefined {
  if (settled.has(state) || (state === "Running" && (healthy || healthUnknown))) return undefined;
  const since = events.findLastIndex(({ message }) => message === "Health check successful");
  return events.slice(since + 1).findLast(isError);
}

/** A service that is restarted again and again is `Waiting` in between; its words tell that from waiting for others. */
function isError({ state, message }: Event): boolean {
  return state === "Failed" || /^(?:Error|Failed|Health check failed)\b/.test(message);
}

/** Since when a service runs, as far as its events go back; health checks are events of one that runs. */
export function runsSince({ state, events }: ServiceState): Date | undefined {
  if (state !== "Running") return undefined;
  return events[events.findLastIndex((event) => event.state !== "Running") + 1]?.at;
}
