// SPDX-License-Identifier: Apache-2.0
import type { SSEStreamingApi } from "hono/streaming";
import { afterEach, describe, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { Broadcast } from "../../web/server/broadcast.ts";
import { hostNames } from "../../web/server/guard.ts";
import { ClusterViews, type ConsoleProject } from "../../web/server/index.ts";
import type { OtherRun } from "../../workspace/terraform/run-events.ts";
import { idleProject } from "../support/console-project.ts";

describe("the views of clusters", () => {
  let views: ClusterViews | undefined;
  afterEach(() => views?.stop());

  function watch(more: Partial<ConsoleProject>, changed: () => void = () => {}): ClusterViews {
    views = new ClusterViews({ project: idleProject(more), changed, now: () => new Date(), interval: 10 });
    views.start();
    return views;
  }

  test("tells of a folder that cannot be read for a while, and goes on", async () => {
    let readable = false;
    const seen = watch({
      environmentNames: () => {
        if (!readable) throw new Error("EACCES: permission denied, scandir 'environments'");
        return ["local"];
      },
    });
    await expect.poll(() => seen.broken).toMatchObject([{ fault: expect.stringContaining("permission denied") }]);
    expect(seen.unseen).toEqual([]);
    readable = true;
    await expect.poll(() => seen.clusters).toMatchObject([{ environment: "local" }]);
    expect(seen.broken).toEqual([]);
  });

  test("tells of a file that cannot be read, beside the others", async () => {
    const seen = watch({
      environmentNames: () => ["lab", "local"],
      load: (name) => {
        if (name === "lab") throw new Error("EIO: i/o error, read");
        return loadEnvironment(".", name);
      },
    });
    await expect.poll(() => seen.clusters).toMatchObject([{ environment: "local" }]);
    expect(seen.broken).toEqual([{ environment: "lab", fault: "EIO: i/o error, read" }]);
  });

  test("tells what is done elsewhere, takes a state in the making for none, and tells when it has ended", async () => {
    let run: OtherRun | undefined;
    const seen = watch({
      elsewhere: async () => run,
      observe: async () => {
        if (run === undefined) throw new TalosError("not-found", "local is not deployed");
        throw new Error("local.tfstate is empty: somebody is applying");
      },
    });
    await expect.poll(() => seen.clusters).toMatchObject([{ state: "not deployed" }]);
    expect(seen.elsewhere).toEqual([]);
    const at = new Date(0);
    const step = { id: "apply-config/cp-1", sentence: "apply initial config to cp-1", destructive: false };
    run = {
      id: "terraform-1",
      action: "deploy",
      startedAt: at,
      end: null,
      events: [
        { at, type: "planned", message: "1 step", steps: [step] },
        { at, type: "step-started", message: step.sentence, machine: "cp-1", step },
      ],
    };
    await expect
      .poll(() => seen.elsewhere)
      .toMatchObject([
        { id: "terraform-1", kind: "terraform deploy", state: "running", steps: [{ state: "running" }] },
      ]);
    expect(seen.clusters).toMatchObject([{ state: "not deployed", note: null }]);
    const finished = { at, type: "step-finished", message: step.sentence, machine: "cp-1", step } as const;
    run = { ...run, events: [...run.events, finished], end: { outcome: "done", at: new Date(5_000) } };
    await expect
      .poll(() => seen.elsewhere)
      .toMatchObject([{ state: "done", endedAt: "1970-01-01T00:00:05.000Z", steps: [{ state: "done" }] }]);
  });
});

describe("a broadcast", () => {
  test("keeps no queue for a page that does not read: it gets the newest state once it does", async () => {
    const sent: string[] = [];
    let read: () => void = () => {};
    let leave: () => void = () => {};
    const stream = {
      aborted: false,
      onAbort: (listener: () => void) => {
        leave = listener;
      },
      writeSSE: ({ data }: { readonly data: string }) =>
        new Promise<void>((resolve) => {
          sent.push(data);
          read = resolve;
        }),
    } as unknown as SSEStreamingApi;
    let count = 0;
    const broadcast = new Broadcast(() => ++count);
    const listening = broadcast.listen(stream);
    for (let change = 0; change < 3; change++) {
      broadcast.changed();
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    expect(sent).toEqual(["1"]);
    read();
    await expect.poll(() => sent).toEqual(["1", "4"]);
    read();
    leave();
    await listening;
    expect(broadcast.listeners).toBe(0);
    broadcast.close();
  });
});

test.each([
  ["127.0.0.1", 8080, ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"]],
  ["::1", 8080, ["[::1]:8080", "127.0.0.1:8080", "localhost:8080"]],
  ["KVM.Example", 8080, ["kvm.example:8080", "127.0.0.1:8080", "localhost:8080", "[::1]:8080"]],
  ["127.0.0.1", 80, ["127.0.0.1", "localhost", "[::1]"]],
])("at %s, port %i, browsers call us by %j", (host, port, names) => {
  expect([...hostNames(host, port)]).toEqual(names);
});
