// SPDX-License-Identifier: Apache-2.0
// A machine that says escapes in every text: nothing of them gets past the client.
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Data } from "../../../talos/api/gen/common/common.ts";
import { GetResponse, ListResponse } from "../../../talos/api/gen/cosi/resource.ts";
import { EtcdMemberListResponse } from "../../../talos/api/gen/machine/etcd.ts";
import {
  MachineStatusEvent,
  PhaseEvent,
  SequenceEvent,
  ServiceStateEvent,
} from "../../../talos/api/gen/machine/events.ts";
import { ApplyConfigurationResponse, FileInfo, VersionResponse } from "../../../talos/api/gen/machine/machine.ts";
import { DiskSpec } from "../../../talos/api/gen/resource/definitions/block.ts";
import { MemberSpec } from "../../../talos/api/gen/resource/definitions/cluster.ts";
import { MachineConfigSpec } from "../../../talos/api/gen/resource/definitions/config.ts";
import { ManifestSpec } from "../../../talos/api/gen/resource/definitions/k8s.ts";
import { AddressStatusSpec, HostnameStatusSpec } from "../../../talos/api/gen/resource/definitions/network.ts";
import { DiagnosticSpec, MachineStatusSpec, MetaKeySpec } from "../../../talos/api/gen/resource/definitions/runtime.ts";
import { connect, type TalosClient } from "../../../talos/api/index.ts";
import { adminCredentials, leaf, type Running, startServer, testAuthority } from "./talos-server.ts";

const evil = "\u001b[2J\u001b]0;x\u0007\u202eevil\u009b1m\r\b";
const control = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
const metadata = { hostname: evil, error: "", status: undefined };
type Callback = (error: unknown, reply?: unknown) => void;
/** Whole messages, as the generated code wants them. */
interface Type {
  fromPartial(part: never): object;
}
/** Where the generated code keeps its type to itself. */
const asIs: Type = { fromPartial: (whole) => whole };
const replies = (type: Type, message: object) => (_call: unknown, callback: Callback) =>
  callback(null, type.fromPartial({ messages: [{ metadata, ...message }] } as never));
const streams =
  (type: Type, ...messages: object[]) =>
  (call: { write(one: object): void; end(): void }) => {
    for (const message of messages) call.write(type.fromPartial(message as never));
    call.end();
  };

const specs: Readonly<Record<string, Uint8Array>> = {
  "MachineStatuses.runtime.talos.dev": MachineStatusSpec.encode(
    MachineStatusSpec.fromPartial({ status: { unmetConditions: [{ name: evil, reason: evil }] } }),
  ).finish(),
  "Members.cluster.talos.dev": MemberSpec.encode(MemberSpec.fromPartial({ hostname: evil })).finish(),
  "HostnameStatuses.net.talos.dev": HostnameStatusSpec.encode(
    HostnameStatusSpec.fromPartial({ hostname: evil }),
  ).finish(),
  "Disks.block.talos.dev": DiskSpec.encode(
    DiskSpec.fromPartial({ devPath: evil, symlinks: [evil], prettySize: evil, model: evil }),
  ).finish(),
  "AddressStatuses.net.talos.dev": AddressStatusSpec.encode(AddressStatusSpec.fromPartial({ linkName: evil })).finish(),
  "MetaKeys.runtime.talos.dev": MetaKeySpec.encode({ value: evil }).finish(),
  "Diagnostics.runtime.talos.dev": DiagnosticSpec.encode(DiagnosticSpec.fromPartial({ message: evil })).finish(),
  "MachineConfigs.config.talos.dev": MachineConfigSpec.encode({ yamlMarshalled: Buffer.from(evil) }).finish(),
  "Manifests.kubernetes.talos.dev": ManifestSpec.encode({ items: [{ object: { data: evil } }] }).finish(),
};

const resource = (type: string) => ({
  metadata: {
    namespace: evil,
    type: evil,
    id: evil,
    version: evil,
    phase: evil,
    owner: evil,
    labels: { [evil]: evil },
  },
  spec: {
    protoSpec: specs[type] ?? new Uint8Array(),
    yamlSpec: `metadata:\n  name: schematic\n  version: "${evil}\\e[1m\\u202eevil"\n`,
  },
});
const get = ({ request }: { request: { type: string } }, callback: Callback) =>
  callback(null, GetResponse.fromPartial({ resource: resource(request.type) }));
const list = (call: { request: { type: string }; write(one: object): void; end(): void }) => {
  call.write(ListResponse.fromPartial({ resource: resource(call.request.type) }));
  call.end();
};
const anyOf = (name: string, value: Uint8Array) => ({
  metadata,
  id: evil,
  actorId: evil,
  data: { typeUrl: `talos/runtime/machine.${name}`, value },
});

const machine = {
  version: replies(VersionResponse, {
    version: { tag: evil, sha: evil, os: evil, arch: evil },
    platform: { name: evil, mode: evil },
  }),
  serviceList: replies(asIs, {
    services: [
      {
        id: evil,
        state: evil,
        events: { events: [{ msg: evil, state: evil, ts: undefined }] },
        health: { unknown: false, healthy: true, lastMessage: evil, lastChange: undefined },
      },
    ],
  }),
  etcdMemberList: replies(EtcdMemberListResponse, {
    members: [{ id: 1n, hostname: evil, peerUrls: [evil], clientUrls: [evil], isLearner: false }],
  }),
  list: streams(FileInfo, { metadata, name: evil, relativeName: evil, error: "" }),
  applyConfiguration: replies(ApplyConfigurationResponse, { warnings: [evil], modeDetails: evil }),
  events: streams(
    asIs,
    anyOf(
      "SequenceEvent",
      SequenceEvent.encode(SequenceEvent.fromPartial({ sequence: evil, error: { message: evil } })).finish(),
    ),
    anyOf("PhaseEvent", PhaseEvent.encode(PhaseEvent.fromPartial({ phase: evil })).finish()),
    anyOf(
      "ServiceStateEvent",
      ServiceStateEvent.encode(ServiceStateEvent.fromPartial({ service: evil, message: evil })).finish(),
    ),
    anyOf("MachineStatusEvent", MachineStatusEvent.encode(MachineStatusEvent.fromPartial({})).finish()),
    anyOf(evil, new Uint8Array()),
  ),
  // Errors: as the call's own status, inside the reply, and inside a stream.
  systemStat: (_call: unknown, callback: Callback) => callback({ code: status.INTERNAL, details: evil }),
  memory: (_call: unknown, callback: Callback) =>
    callback(null, { messages: [{ metadata: { ...metadata, error: evil } }] }),
  etcdStatus: (_call: unknown, callback: Callback) => callback({ code: status.FAILED_PRECONDITION, details: evil }),
  logs: streams(Data, {
    metadata: { ...metadata, status: { code: 5, message: evil, details: [] } },
    bytes: Buffer.from(evil),
  }),
};

describe("a machine that says escapes in every text", () => {
  const ca = testAuthority();
  let running: Running;
  let client: TalosClient;
  beforeAll(async () => {
    running = await startServer(leaf(ca, { server: "127.0.0.1" }), ca, { machine, state: { get, list } });
    client = connect(running.address, { kind: "mtls", credentials: adminCredentials(ca) });
  });
  afterAll(async () => {
    client.close();
    await running.stop();
  });

  const all = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
    const found: T[] = [];
    for await (const one of stream) found.push(one);
    return found;
  };
  const calls: readonly (readonly [string, (talos: TalosClient) => Promise<unknown>])[] = [
    ["version", (talos) => talos.version()],
    ["versions", (talos) => talos.versions(["a"])],
    ["serviceList", (talos) => talos.serviceList()],
    ["etcdMemberList", (talos) => talos.etcdMemberList()],
    ["listDirectory", (talos) => talos.listDirectory("/")],
    ["applyConfiguration", (talos) => talos.applyConfiguration("a: b")],
    ["events", (talos) => all(talos.events())],
    ["getResource", (talos) => talos.getResource("a", "b", "c")],
    ["listResources", (talos) => talos.listResources("a", "b")],
    ["machineStatus", (talos) => talos.machineStatus()],
    ["clusterMembers", (talos) => talos.clusterMembers()],
    ["hostname", (talos) => talos.hostname()],
    ["staticPods", (talos) => talos.staticPods()],
    ["schematic", (talos) => talos.schematic()],
    ["diskNames", (talos) => talos.diskNames()],
    ["disks", (talos) => talos.disks()],
    ["addresses", (talos) => talos.addresses()],
    ["metaValues", (talos) => talos.metaValues()],
    ["diagnostics", (talos) => talos.diagnostics()],
    ["memoryTotal, which fails in its reply", (talos) => talos.memoryTotal()],
    ["etcdStatus, which fails", (talos) => talos.etcdStatus()],
    ["logs, which fail in their stream", (talos) => all(talos.logs("etcd"))],
  ];

  test.each(calls)("%s tells plain text, in what it returns and in what it throws", async (_name, call) => {
    const told = await call(client).catch((error: Error) => ({ message: error.message, stack: error.stack }));
    expect(textsIn(told).filter((text) => control.test(text))).toEqual([]);
    expect(textsIn(told).join()).toContain("<U+202E>evil");
  });

  test("data that goes back to a machine stays what it is", async () => {
    expect(await client.machineConfig()).toBe(evil);
    expect(await client.bootstrapManifests()).toEqual([{ data: evil }]);
  });
});

/** Every text in a value, keys included; bytes are none. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}
