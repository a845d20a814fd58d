// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { protobufFolders, sourceHash } from "../../../scripts/protobuf-folders.ts";
import * as cluster from "../../../talos/api/gen/cluster/cluster.ts";
import * as common from "../../../talos/api/gen/common/common.ts";
import * as resource from "../../../talos/api/gen/cosi/resource.ts";
import * as etcd from "../../../talos/api/gen/machine/etcd.ts";
import * as events from "../../../talos/api/gen/machine/events.ts";
import * as image from "../../../talos/api/gen/machine/image.ts";
import * as lifecycle from "../../../talos/api/gen/machine/lifecycle.ts";
import * as machine from "../../../talos/api/gen/machine/machine.ts";
import * as block from "../../../talos/api/gen/resource/definitions/block.ts";
import * as clusterSpecs from "../../../talos/api/gen/resource/definitions/cluster.ts";
import * as etcdSpecs from "../../../talos/api/gen/resource/definitions/etcd.ts";
import * as k8s from "../../../talos/api/gen/resource/definitions/k8s.ts";
import * as network from "../../../talos/api/gen/resource/definitions/network.ts";
import * as runtime from "../../../talos/api/gen/resource/definitions/runtime.ts";
import * as v1alpha1 from "../../../talos/api/gen/resource/definitions/v1alpha1.ts";
import * as storage from "../../../talos/api/gen/storage/storage.ts";

interface Codec {
  decode(bytes: Uint8Array): unknown;
  encode(message: never): { finish(): Uint8Array };
}

interface Vector {
  readonly message: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly hex: string;
}

const packages: Readonly<Record<string, readonly object[]>> = {
  machine: [machine, etcd, events, image, lifecycle],
  common: [common],
  cluster: [cluster],
  storage: [storage],
  "cosi.resource": [resource],
  "talos.resource.definitions.runtime": [runtime],
  "talos.resource.definitions.cluster": [clusterSpecs],
  "talos.resource.definitions.etcd": [etcdSpecs],
  "talos.resource.definitions.v1alpha1": [v1alpha1],
  "talos.resource.definitions.network": [network],
  "talos.resource.definitions.k8s": [k8s],
  "talos.resource.definitions.block": [block],
};

function codecOf(message: string): Codec {
  const dot = message.lastIndexOf(".");
  const name = message.slice(dot + 1);
  for (const module of packages[message.slice(0, dot)] ?? []) {
    const found: unknown = new Map(Object.entries(module)).get(name);
    if (found !== undefined) return found as Codec;
  }
  throw new Error(`no codec for ${message}`);
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../golden/wire/vectors.json"), "utf8"),
);

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());

/** Every value that the vector names is in the decoded message under the same name. Enum names are left to the bytes. */
function expectContains(decoded: unknown, json: unknown, path: string): void {
  if (Array.isArray(json)) {
    expect(Array.isArray(decoded) && decoded.length, path).toBe(json.length);
    json.forEach((item, index) => {
      expectContains((decoded as unknown[])[index], item, `${path}[${index}]`);
    });
  } else if (typeof json === "object" && json !== null) {
    for (const [key, value] of Object.entries(json)) {
      if (key === "@type") continue;
      const record = decoded as Record<string, unknown>;
      const union = Object.values(record).find(
        (candidate): candidate is { $case: string; value: unknown } =>
          typeof candidate === "object" && candidate !== null && "$case" in candidate && candidate.$case === camel(key),
      );
      expectContains(union === undefined ? record[camel(key)] : union.value, value, `${path}.${key}`);
    }
  } else if (decoded instanceof Uint8Array) {
    expect(Buffer.from(decoded).toString("base64"), path).toBe(json);
  } else if (typeof decoded === "bigint") {
    expect(decoded.toString(), path).toBe(String(json));
  } else if (typeof decoded === "object" && decoded !== null && "seconds" in decoded) {
    expectTime(decoded as { seconds: bigint; nanos: number }, String(json), path);
  } else if (typeof decoded === "number" && typeof json === "string") {
    expect(json, path).toMatch(/^[A-Z0-9_]+$/);
  } else {
    expect(decoded, path).toEqual(json);
  }
}

function expectTime({ seconds, nanos }: { seconds: bigint; nanos: number }, text: string, path: string): void {
  if (text.endsWith("s")) {
    expect(`${seconds}s`, path).toBe(text);
    return;
  }
  const [, fraction = ""] = /\.(\d+)Z$/.exec(text) ?? [];
  expect(Number(seconds), path).toBe(Math.floor(Date.parse(text) / 1000));
  expect(nanos, path).toBe(Number(fraction.padEnd(9, "0")));
}

describe("the bytes of the Talos API", () => {
  test.each(vectors.map((vector, index) => [`${index} ${vector.message}`, vector] as const))(
    "%s decodes to the same values and encodes to the same bytes as the Go library's",
    (_name, vector) => {
      const codec = codecOf(vector.message);
      const decoded = codec.decode(Buffer.from(vector.hex, "hex"));
      const encoded = Buffer.from(codec.encode(decoded as never).finish());
      // Talos writes resource specs in the order of its Go structs; the bytes are the same, their order is not.
      expect(encoded.length).toBe(vector.hex.length / 2);
      expect(codec.decode(encoded)).toEqual(decoded);
      if (vector.message !== "talos.resource.definitions.block.DiskSpec")
        expect(encoded.toString("hex")).toBe(vector.hex);
      const packed = vector.message === "machine.Event";
      if (!vector.message.startsWith("talos.resource.") && !packed)
        expectContains(decoded, vector.json, vector.message);
    },
  );

  test("a message of an event is found behind its type URL", () => {
    const vector = vectors.find(({ message }) => message === "machine.Event");
    const event = events.Event.decode(Buffer.from(vector?.hex ?? "", "hex"));
    expect(event.data?.typeUrl).toBe("talos/runtime/machine.MachineStatusEvent");
    expect(events.MachineStatusEvent.decode(event.data?.value ?? new Uint8Array()).stage).toBe(4);
  });
});

describe("the generated code", () => {
  test.each(protobufFolders.map((folder) => [folder.source, folder] as const))(
    "belongs to the files in %s",
    (_name, folder) => {
      const written = readFileSync(join(folder.generated, "source.sha256"), "utf8").trim();
      expect(written, "run: npm run generate:protobuf").toBe(sourceHash(folder.source));
    },
  );
});
