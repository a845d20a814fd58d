// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type Machine, resourceDefinitions } from "../../simulator/index.ts";
import { isHealthy } from "../../simulator/kubernetes/eviction.ts";
import {
  type Event,
  EventType,
  ListRequest,
  type ListResponse,
  StateService,
  WatchOptions,
  WatchRequest,
  type WatchResponse,
} from "../../talos/api/gen/cosi/resource.ts";
import { ApplyConfigurationRequest, MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { MemberSpec } from "../../talos/api/gen/resource/definitions/cluster.ts";
import { NodeAddressSpec } from "../../talos/api/gen/resource/definitions/network.ts";
import { MachineStatusSpec } from "../../talos/api/gen/resource/definitions/runtime.ts";
import { collect, configFor } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const golden = new URL("../golden/real/", import.meta.url);

let lab: VirtualLaboratory;
let first: Machine;
let worker: Machine;
beforeAll(async () => {
  lab = new VirtualLaboratory();
  [first, worker] = (await lab.cluster(1, 1)) as [Machine, Machine];
});

async function list(type: string, namespace: string, machine = first, roles = ["os:admin"]): Promise<ListResponse[]> {
  const request = ListRequest.fromPartial({ namespace, type });
  return collect(lab.stream(machine, StateService.list, [request], { roles }));
}

interface RealResource {
  readonly metadata: { readonly namespace: string; readonly type: string; readonly id: string; readonly owner: string };
  readonly spec: unknown;
}

/** The keys of a value, all levels; lists by their first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

describe("resource definitions", () => {
  it("are those of a real machine, with the same aliases", () => {
    const lines = readFileSync(new URL("resource-definitions.txt", golden), "utf8").split("\n").slice(2);
    const real = lines.flatMap((line): [string, string][] => {
      const [, , , id, , ...aliases] = line.trim().split(/\s+/);
      return id === undefined || !line.startsWith("10.") ? [] : [[id, aliases.join(" ")]];
    });
    expect(real.length).toBeGreaterThan(150);
    const ours = new Map(
      resourceDefinitions.map(({ id, spec }) => [id, (spec as { aliases: string[] }).aliases.join(" ")]),
    );
    for (const [id, aliases] of real) expect([id, ours.get(id)]).toEqual([id, aliases]);
  });
});

describe("resources", () => {
  const files = readdirSync(golden).filter((name) => name.startsWith("get-"));

  it.each(files)("have the namespace, owner and fields that real ones have in %s", async (name) => {
    const text = readFileSync(new URL(name, golden), "utf8")
      .replace(/^\$.*\n/, "")
      .replace(/\[exit \d+\]\s*$/, "");
    const real = parseAllDocuments(text).map((document) => document.toJS() as RealResource);
    for (const { metadata, spec } of real) {
      if (!comparable(metadata.id, metadata.type)) continue;
      const items = await list(metadata.type, metadata.namespace);
      const id = metadata.id.replace("10.77.0.2", first.address);
      const ours = items.find(({ resource }) => resource?.metadata?.id === id)?.resource;
      expect(ours?.metadata, `${metadata.type} ${id}`).toMatchObject({
        namespace: metadata.namespace,
        phase: "running",
      });
      if (metadata.type !== "CertSANs.secrets.talos.dev") expect(ours?.metadata?.owner).toBe(metadata.owner);
      const fields = shapeOf(parse(ours?.spec?.yamlSpec ?? ""));
      const wanted = shapeOf(spec);
      if (typeof wanted === "object")
        expect(Object.keys(fields as object)).toEqual(expect.arrayContaining(Object.keys(wanted as object)));
      else expect(fields).toEqual(wanted);
    }
  });

  /** What a container on a bridge has and a simulated machine does not: link-local IPv6, the container's platform data. */
  function comparable(id: string, type: string): boolean {
    return !id.includes("::") && type !== "PlatformMetadatas.talos.dev";
  }

  it("carry the same content as YAML and as protobuf", async () => {
    const [member] = (await list("Members.cluster.talos.dev", "cluster")).map(({ resource }) => resource);
    const yaml = parse(member?.spec?.yamlSpec ?? "") as { nodeId: string; hostname: string; machineType: string };
    const proto = MemberSpec.decode(member?.spec?.protoSpec ?? new Uint8Array());
    expect(proto).toMatchObject({
      nodeId: yaml.nodeId,
      hostname: yaml.hostname,
      machineType: 2,
      controlPlane: { apiServerPort: 6443n },
    });
    expect([...(proto.addresses[0]?.ip ?? [])].join(".")).toBe(first.address);
    const [status] = (await list("MachineStatuses.runtime.talos.dev", "runtime")).map(({ resource }) => resource);
    expect(MachineStatusSpec.decode(status?.spec?.protoSpec ?? new Uint8Array())).toMatchObject({
      stage: 4,
      status: { ready: true },
    });
    const addresses = await list("NodeAddresses.net.talos.dev", "network");
    const current = addresses.find(({ resource }) => resource?.metadata?.id === "current")?.resource?.spec?.protoSpec;
    const [prefix] = NodeAddressSpec.decode(current ?? new Uint8Array()).addresses;
    expect([[...(prefix?.ip ?? [])].join("."), prefix?.prefixLength]).toEqual([first.address, 24]);
  });

  it("are refused by type, namespace and role", async () => {
    await expect(list("Nothing.talos.dev", "runtime")).rejects.toMatchObject({
      message: 'resource type "Nothing.talos.dev" is not supported',
    });
    await expect(list("Members.cluster.talos.dev", "nowhere")).rejects.toMatchObject({
      message: 'namespace "nowhere" is not supported',
    });
    await expect(list("MachineConfigs.config.talos.dev", "config", first, ["os:reader"])).rejects.toMatchObject({
      message: "not authorized",
    });
    expect(await list("Members.cluster.talos.dev", "cluster", first, ["os:reader"])).toHaveLength(2);
    const missing = { namespace: "etcd", type: "EtcdMembers.etcd.talos.dev", id: "local", options: {} };
    await expect(lab.call(worker, StateService.get, missing)).rejects.toMatchObject({
      status: "NotFound",
      message: "resource EtcdMembers.etcd.talos.dev(etcd/local@undefined) doesn't exist",
    });
    await expect(lab.call(first, StateService.destroy, { ...missing, options: { owner: "" } })).rejects.toMatchObject({
      message: "write access is not allowed",
    });
  });

  it("are watched: first an empty message, the contents, the mark, then each change with its old state", async () => {
    const request = WatchRequest.fromPartial({
      namespace: "runtime",
      type: "MachineStatuses.runtime.talos.dev",
      options: { bootstrapContents: true },
      apiVersion: 1,
    });
    const abort = new AbortController();
    const seen: WatchResponse[] = [];
    const watching = (async () => {
      for await (const message of lab.stream(worker, StateService.watch, [request], { signal: abort.signal }))
        seen.push(message);
    })();
    await lab.clock.advance(10);
    await lab.call(worker, MachineServiceService.serviceStop, { id: "kubelet" });
    await lab.clock.advance(10);
    await lab.call(worker, MachineServiceService.serviceStart, { id: "kubelet" });
    await lab.clock.advance(5_000);
    abort.abort();
    await watching;
    const types = seen.map(({ event }) => event[0]?.eventType);
    expect(seen[0]?.event).toEqual([]);
    expect(types.slice(1, 3)).toEqual([EventType.CREATED, EventType.BOOTSTRAPPED]);
    expect(types.slice(3).every((type) => type === EventType.UPDATED)).toBe(true);
    const changes = seen.slice(3).map(({ event }) => event[0]);
    expect(changes.map((event) => event?.old?.metadata?.version)).toEqual(changes.map((_, index) => String(index + 1)));
    expect(changes.at(-1)?.resource?.spec?.yamlSpec).toContain("ready: true");
  });

  it("tell the kernel parameters of the config, and those that the kernel lacks", async () => {
    const config = configFor("worker", first.address, "w-1", ["machine: {sysctls: {vm.swappiness: '1', a.b: '2'}}"]);
    await lab.call(
      worker,
      MachineServiceService.applyConfiguration,
      ApplyConfigurationRequest.fromPartial({ data: Buffer.from(config), mode: 1 }),
    );
    const found = await list("KernelParamStatuses.runtime.talos.dev", "runtime", worker);
    const specs = new Map(found.map(({ resource }) => [resource?.metadata?.id, parse(resource?.spec?.yamlSpec ?? "")]));
    expect(specs.get("proc.sys.vm.swappiness")).toMatchObject({ current: "1", unsupported: false });
    expect(specs.get("proc.sys.a.b")).toMatchObject({ current: "", unsupported: true });
    expect(specs.get("proc.sys.net.ipv4.ip_forward")).toMatchObject({ current: "1", default: "0" });
  });

  it("have the manifests under the ids of real nodes", async () => {
    const found = await list("Manifests.kubernetes.talos.dev", "controlplane");
    expect(found.map(({ resource }) => resource?.metadata?.id)).toEqual([
      "00-kubelet-bootstrapping-token",
      "01-csr-approver-role-binding",
      "01-csr-node-bootstrap",
      "01-csr-renewal-role-binding",
      "05-flannel",
      "10-kube-proxy",
      "11-core-dns",
      "11-core-dns-svc",
      "11-kube-config-in-cluster",
      "11-talos-node-rbac-template",
    ]);
    const [status] = await list("ManifestStatuses.kubernetes.talos.dev", "controlplane");
    expect(status?.resource?.spec?.yamlSpec).toContain("10-kube-proxy");
  });

  describe("are watched again from a bookmark", () => {
    const kubeletStatus = { namespace: "runtime", type: "Services.v1alpha1.talos.dev", apiVersion: 1 };

    /** The events of a watch while something happens. */
    async function watched(
      options: Partial<WatchOptions>,
      during: () => Promise<unknown> = async () => undefined,
    ): Promise<Event[]> {
      const request = WatchRequest.fromPartial({ ...kubeletStatus, options: WatchOptions.fromPartial(options) });
      const abort = new AbortController();
      const seen: Event[] = [];
      const watching = (async () => {
        for await (const { event } of lab.stream(worker, StateService.watch, [request], { signal: abort.signal }))
          seen.push(...event);
      })();
      // A watch that is refused ends at once; its error is for the caller, not for the process.
      watching.catch(() => undefined);
      await lab.clock.advance(10);
      await during();
      await lab.clock.advance(2_000);
      abort.abort();
      await watching;
      return seen;
    }

    const stop = () => lab.call(worker, MachineServiceService.serviceStop, { id: "kubelet" });
    const start = () => lab.call(worker, MachineServiceService.serviceStart, { id: "kubelet" });
    const idOf = ({ resource }: Event): string => resource?.metadata?.id ?? "";

    it("and told what happened since, also while nobody watched", async () => {
      const first = await watched({ bootstrapContents: true }, stop);
      const mark = first.find(({ eventType }) => eventType === EventType.BOOTSTRAPPED)?.bookmark;
      expect(mark).toHaveLength(16);
      await start();
      await lab.clock.advance(2_000);
      const missed = await watched({ startFromBookmark: mark ?? Buffer.alloc(0) });
      expect(missed.map(idOf)).toEqual(missed.map(() => "kubelet"));
      expect(missed.length).toBeGreaterThanOrEqual(2);
      const last = missed.at(-1)?.bookmark ?? Buffer.alloc(0);
      expect(await watched({ startFromBookmark: last })).toEqual([]);
      expect(await watched({ tailEvents: 1 })).toEqual(missed.slice(-1));
      const [noop] = await watched({ bootstrapBookmark: true });
      expect(noop).toMatchObject({ eventType: EventType.NOOP, bookmark: last });
    });

    it.each<[what: string, options: Partial<WatchOptions>, words: string]>([
      ["of nobody", { startFromBookmark: Buffer.alloc(16) }, "invalid watch bookmark"],
      ["that is none", { startFromBookmark: Buffer.from("abc") }, "invalid watch bookmark"],
      ["together with a tail", { startFromBookmark: Buffer.alloc(16), tailEvents: 1 }, "cannot use both TailEvents"],
      [
        "with the contents",
        { startFromBookmark: Buffer.alloc(16), bootstrapContents: true },
        "cannot use BootstrapContents",
      ],
    ])("but not from one %s", async (_, options, words) => {
      await expect(watched(options)).rejects.toThrow(words);
    });
  });
});

describe("a control plane whose kubelet is stopped", () => {
  const isReady = () => {
    const cluster = Object.values(lab.simulation.world.clusters)[0];
    const pods = Object.values(cluster?.objects ?? {}).filter(({ metadata }) =>
      metadata.name.startsWith("kube-scheduler"),
    );
    return pods.map((pod) => isHealthy(pod));
  };

  it("reports its static pods no more, and again when it is back", async () => {
    expect(isReady()).toEqual([true]);
    await lab.call(first, MachineServiceService.serviceStop, { id: "kubelet" });
    await lab.clock.advance(120_000);
    expect(isReady()).toEqual([false]);
    await lab.call(first, MachineServiceService.serviceStart, { id: "kubelet" });
    await lab.clock.advance(120_000);
    expect(isReady()).toEqual([true]);
  });
});
