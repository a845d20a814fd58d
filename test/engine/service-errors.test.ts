// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { runsSince, serviceErrors } from "../../engine/observe/service-errors.ts";
import type { ServiceState } from "../../talos/api/index.ts";

type Event = readonly [state: string, message: string];

function service(id: string, health: "healthy" | "unhealthy" | "unknown", ...events: readonly Event[]): ServiceState {
  return {
    id,
    state: events.at(-1)?.[0] ?? "Initialized",
    healthy: health === "healthy",
    healthUnknown: health === "unknown",
    message: "",
    events: events.map(([state, message]) => ({ state, message, at: new Date(0) })),
  };
}

const starting: readonly Event[] = [
  ["Starting", "Starting service"],
  ["Preparing", "Running pre state"],
];
const started: Event = ["Running", "Started task etcd (PID 1) for container etcd"];
const wellAgain: Event = ["Running", "Health check successful"];
/** As Talos 1.14.1 said it. */
const noImage =
  'Failed to run pre stage: failed to pull image "registry.k8s.io/etcd:3.7.1": failed to resolve reference: not found';
const exited: Event = ["Waiting", "Error running Containerd(etcd), going to restart forever: task failed: exit code 1"];

describe("what services of a machine report", () => {
  test.each<[string, readonly ServiceState[], readonly string[]]>([
    ["nothing where they run", [service("etcd", "healthy", ...starting, started, wellAgain)], []],
    ["nothing where one without health checks runs", [service("dashboard", "unknown", ...starting, started)], []],
    ["what one does that is on its way", [service("etcd", "unknown", ...starting)], ["etcd: Running pre state"]],
    ["nothing where one was stopped", [service("etcd", "unknown", ["Finished", "Service finished successfully"])], []],
    ["why one failed", [service("etcd", "unknown", ...starting, ["Failed", noImage])], [`etcd: ${noImage}`]],
    [
      "the last error of one that begins again",
      [service("etcd", "unknown", ...starting, ["Failed", noImage], ...starting)],
      [`etcd: ${noImage}`],
    ],
    ["that one exits", [service("etcd", "unknown", ...starting, started, exited)], [`etcd: ${exited[1]}`]],
    [
      "that one is not healthy",
      [service("kubelet", "unhealthy", started, ["Running", "Health check failed: connection refused"])],
      ["kubelet: Health check failed: connection refused"],
    ],
    [
      "no error from before it was last well",
      [service("etcd", "unknown", ["Failed", noImage], started, wellAgain, ["Waiting", "Waiting for network"])],
      ["etcd: Waiting for network"],
    ],
    [
      "what one waits for only where none has an error",
      [service("apid", "unknown", ["Waiting", "Waiting for network"]), service("etcd", "unknown", ["Failed", "no"])],
      ["etcd: no"],
    ],
    ["each on one line", [service("etcd", "unknown", ["Failed", "first\n  second"])], ["etcd: first second"]],
  ])("%s", (_case, services, expected) => {
    expect(serviceErrors(services)).toEqual(expected);
  });
});

describe("since when a service runs", () => {
  const at = (second: number) => new Date(second * 1000);
  const timed = (...events: readonly Event[]): ServiceState => {
    const known = service("kubelet", "healthy", ...events);
    return { ...known, events: known.events.map((event, index) => ({ ...event, at: at(index) })) };
  };

  test.each<[string, ServiceState, Date | undefined]>([
    ["is when it was started the last time", timed(started, ["Waiting", "restarting"], started, wellAgain), at(2)],
    ["is as far back as its events go", timed(wellAgain, wellAgain), at(0)],
    ["is not told of one that does not run", timed(started, ["Waiting", "restarting"]), undefined],
    ["is not told without events", { ...timed(), state: "Running" }, undefined],
  ])("%s", (_case, state, since) => {
    expect(runsSince(state)).toEqual(since);
  });
});
