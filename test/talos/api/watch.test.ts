// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { EventType, type WatchRequest, WatchResponse } from "../../../talos/api/gen/cosi/resource.ts";
import { connect } from "../../../talos/api/index.ts";
import { adminCredentials, leaf, startServer, testAuthority } from "./talos-server.ts";

const ca = testAuthority();
const certificate = leaf(ca, { server: "127.0.0.1" });

interface Call {
  readonly request: WatchRequest;
  write(reply: unknown): void;
  end(): void;
  emit(name: "error", error: object): void;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Each connection of the watch is answered by the next of these. */
async function watching(answers: readonly ((call: Call) => void)[]) {
  const requests: WatchRequest[] = [];
  const { address, stop } = await startServer(certificate, ca, {
    state: {
      watch(call: Call) {
        requests.push(call.request);
        answers[requests.length - 1]?.(call);
      },
    },
  });
  const client = connect(address, { kind: "mtls", credentials: adminCredentials(ca) });
  closing.push(stop, () => client.close());
  return { client, requests };
}

const event = (eventType: EventType, id: string, bookmark: string) => {
  const resource = { metadata: { namespace: "n", type: "T", id }, spec: {} };
  return WatchResponse.fromPartial({
    event: [{ eventType, bookmark: Buffer.from(bookmark), ...(id === "" ? {} : { resource }) }],
  });
};
const gone = (call: Call) => call.emit("error", { code: status.UNAVAILABLE, details: "the machine reboots" });

async function take(changes: AsyncIterable<{ kind: string; resource?: { id: string } }>, count: number) {
  const seen: string[] = [];
  for await (const change of changes) {
    seen.push(change.resource === undefined ? change.kind : `${change.kind} ${change.resource.id}`);
    if (seen.length === count) break;
  }
  return seen;
}

describe("a watch of resources", () => {
  test("goes on from its last bookmark after the stream broke, without telling anything twice", async () => {
    const { client, requests } = await watching([
      (call) => {
        call.write(event(EventType.CREATED, "a", "1"));
        call.write(event(EventType.BOOTSTRAPPED, "", "2"));
        setTimeout(gone, 20, call);
      },
      (call) => gone(call),
      (call) => call.write(event(EventType.UPDATED, "a", "3")),
    ]);
    expect(await take(client.watchResources("n", "T"), 3)).toEqual(["created a", "complete", "updated a"]);
    expect(requests.map(({ options }) => Buffer.from(options?.startFromBookmark ?? []).toString())).toEqual([
      "",
      "2",
      "2",
    ]);
    expect(requests.map(({ options }) => options?.bootstrapContents)).toEqual([true, false, false]);
  });

  test("begins anew, and says so, when the machine no longer knows the bookmark", async () => {
    const { client } = await watching([
      (call) => {
        call.write(event(EventType.CREATED, "a", "1"));
        setTimeout(gone, 20, call);
      },
      (call) => call.emit("error", { code: status.FAILED_PRECONDITION, details: "invalid watch bookmark" }),
      (call) => call.write(event(EventType.CREATED, "b", "1")),
    ]);
    expect(await take(client.watchResources("n", "T"), 3)).toEqual(["created a", "restarted", "created b"]);
  });

  test("that never began, or that is refused, is an error at once", async () => {
    const { client } = await watching([
      gone,
      (call) => call.emit("error", { code: status.PERMISSION_DENIED, details: "no" }),
    ]);
    await expect(take(client.watchResources("n", "T"), 1)).rejects.toMatchObject({ code: "unavailable" });
    await expect(take(client.watchResources("n", "T"), 1)).rejects.toMatchObject({ code: "permission-denied" });
  });

  test("ends with its signal, also while it waits to connect again", async () => {
    const stop = new AbortController();
    const { client } = await watching([
      (call) => {
        call.write(event(EventType.CREATED, "a", "1"));
        setTimeout(gone, 20, call);
      },
      gone,
      gone,
    ]);
    setTimeout(() => stop.abort(), 250);
    const all = take(client.watchResources("n", "T", { signal: stop.signal }), 9);
    await expect(all).rejects.toMatchObject({ code: "canceled" });
  });
});
