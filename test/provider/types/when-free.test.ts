// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ClusterTaken } from "../../../engine/lock/lock-file.ts";
import {
  type Attributes,
  applyResourceChange,
  attribute,
  configureProvider,
  type Operation,
  type Resource,
  Server,
} from "../../../provider/framework/index.ts";
import { Client } from "../../../provider/types/client.ts";
import { whenFree } from "../../../provider/types/engine-run.ts";
import { TalosError } from "../../../talos/errors.ts";

const attributes = { name: attribute.required.string("") } satisfies Attributes;
const taken = () => Promise.reject(new ClusterTaken("another run works on this cluster: process 7", { hint: "Wait." }));

/** Creates something with this work, for which there is so much time. */
async function create(limit: string, work: (operation: Operation<null>) => Promise<void>) {
  const logged: string[] = [];
  const resource: Resource<typeof attributes, null> = {
    name: "row",
    description: "",
    attributes,
    timeouts: { create: limit },
    create: async ({ planned, ...operation }) => {
      await work(operation);
      return planned;
    },
    read: async ({ state }) => state,
    delete: async () => undefined,
  };
  const lists = { dataSources: [], ephemeralResources: [], functions: [], actions: [], lists: [] };
  const provider = { description: "", attributes: {}, resources: [resource], ...lists, configure: () => null };
  const server = new Server<null>(provider, (_, message) => logged.push(message));
  await configureProvider(server, {});
  const wish = { name: "a", timeouts: null };
  const change = { typeName: "row", prior: null, planned: wish, config: wish };
  return { ...(await applyResourceChange(server, change)), logged };
}

describe("work of which only one at a time may be under way", () => {
  test("has all its time when its turn comes", async () => {
    const options = { root: "/", secrets: {} as Client["secrets"], environment: {}, daemonCommand: ["false"] } as const;
    const client = new Client(options);
    const lasting = ({ clock, signal }: Operation<null>) =>
      client.inTurn(clock, () => sleep(150, undefined, { signal }));
    const done = await Promise.all([1, 2, 3].map(() => create("300ms", lasting)));
    expect(done.map(({ diagnostics }) => diagnostics)).toEqual([[], [], []]);
  });
});

describe("work on a cluster that another run has", () => {
  test("begins when it is free, with all its time", async () => {
    let attempts = 0;
    const { diagnostics, logged } = await create("400ms", (operation) =>
      whenFree(
        operation,
        async () => {
          attempts++;
          if (attempts < 4) return taken();
          await sleep(250);
          if (operation.signal.aborted) throw new Error("no time is left");
        },
        100,
      ),
    );
    expect(diagnostics).toEqual([]);
    expect(logged).toEqual(["waiting: another run works on this cluster: process 7"]);
  });

  test("is waited for no longer than the work itself may take, and it is told who has it", async () => {
    const { diagnostics } = await create("100ms", (operation) => whenFree(operation, taken, 60));
    expect(diagnostics).toMatchObject([
      {
        severity: "error",
        summary: "Waited too long for another run",
        detail: expect.stringMatching(/another run works on this cluster: process 7.*Wait\./s),
      },
    ]);
  });

  test("still has a limit once it has begun", async () => {
    const { diagnostics } = await create("50ms", (operation) =>
      whenFree(operation, async () => {
        await sleep(300, undefined, { signal: operation.signal });
      }),
    );
    expect(diagnostics).toMatchObject([{ severity: "error", summary: "Took too long" }]);
  });

  test("is not tried again for a conflict that no waiting solves", async () => {
    let attempts = 0;
    const { diagnostics } = await create("1m", (operation) =>
      whenFree(operation, () => {
        attempts++;
        return Promise.reject(new TalosError("conflict", "the lock is not readable", { hint: "Delete it." }));
      }),
    );
    expect(diagnostics).toMatchObject([{ severity: "error", detail: expect.stringContaining("not readable") }]);
    expect(attempts).toBe(1);
  });
});
