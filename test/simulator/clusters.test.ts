// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Machine } from "../../simulator/index.ts";
import { ListRequest, StateService } from "../../talos/api/gen/cosi/resource.ts";
import { MachineServiceService as Api, ResetRequest } from "../../talos/api/gen/machine/machine.ts";
import { generateMachineConfig } from "../../talos/config/index.ts";
import { parseSecrets } from "../../talos/secrets/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const file = new URL("../golden/secrets/secrets-v1.14.yaml", import.meta.url);
const others = parseSecrets(readFileSync(file, "utf8"), "secrets-v1.14.yaml");

let lab: VirtualLaboratory;
let here: Machine[];
let there: Machine[];

/** Configs of the newest contract, where what was one document is many. */
function modernConfig(machine: Machine, endpoint: string): string {
  const talosVersion = TalosVersion.parse("v1.14.0-rc.1");
  const cluster = {
    clusterName: "other",
    endpoint: `https://${endpoint}:6443`,
    talosVersion,
    kubernetesVersion: talosVersion.defaultKubernetesVersion,
  };
  return generateMachineConfig(cluster, others, {
    type: machine.name.includes("cp") ? "controlplane" : "worker",
    hostname: machine.name,
  });
}

beforeAll(async () => {
  lab = new VirtualLaboratory();
  here = await lab.cluster(1, 1);
  there = await lab.machines(["other-cp-1", "other-w-1"], "v1.14.0-rc.1");
  const [first] = there as [Machine];
  for (const machine of there) await lab.apply(machine, modernConfig(machine, first.address));
  await lab.clock.advance(5_000);
  await lab.bootstrap(lab.now(first.id));
  await lab.clock.advance(10_000);
});

describe("two clusters in one simulation", () => {
  it("are both ready, the second with the documents of the newest contract", () => {
    expect(lab.ready()).toEqual(["cp-1", "other-cp-1", "other-w-1", "w-1"]);
  });

  it("have an etcd and nodes of their own", () => {
    const clusters = Object.values(lab.simulation.world.clusters);
    const nodes = clusters.map(({ objects }) =>
      Object.keys(objects)
        .filter((key) => key.startsWith("nodes/"))
        .sort(),
    );
    expect(nodes.sort()).toEqual([
      ["nodes//cp-1", "nodes//w-1"],
      ["nodes//other-cp-1", "nodes//other-w-1"],
    ]);
    expect(clusters.map(({ etcd }) => etcd?.members.length)).toEqual([1, 1]);
  });

  it("tell of their nodes in events", () => {
    const [cluster] = Object.values(lab.simulation.world.clusters);
    const reasons = Object.values(cluster?.objects ?? {})
      .filter(({ kind }) => kind === "Event")
      .map(({ reason }) => reason);
    expect(reasons.sort()).toEqual([
      "FailedScheduling",
      "FailedScheduling",
      "NodeReady",
      "NodeReady",
      "RegisteredNode",
      "RegisteredNode",
    ]);
  });

  it("know the API servers of their own cluster alone", async () => {
    const [first] = here as [Machine];
    const request = ListRequest.fromPartial({ namespace: "controlplane", type: "Endpoints.kubernetes.talos.dev" });
    const specs: string[] = [];
    for await (const { resource } of lab.stream(first, StateService.list, [request]))
      specs.push(resource?.spec?.yamlSpec ?? "");
    expect(specs.map((spec) => parse(spec))).toEqual([{ addresses: [first.address], hosts: [] }]);
  });

  it("do not trust each other", async () => {
    const [first] = here as [Machine];
    const [stranger] = there as [Machine];
    const reply = await lab.call(first, Api.version, {}, { metadata: { nodes: [stranger.address] } });
    expect(reply.messages[0]?.metadata?.error).toContain("x509: certificate signed by unknown authority");
  });

  it("leave nothing shared behind when the last of their machines is reset", async () => {
    for (const machine of there) {
      await lab.call(lab.now(machine.id), Api.reset, ResetRequest.fromPartial({ reboot: true }));
    }
    await lab.clock.advance(5_000);
    expect(there.map(({ id }) => lab.now(id).life.stage)).toEqual(["maintenance", "maintenance"]);
    expect(Object.keys(lab.simulation.world.clusters)).toHaveLength(1);
  });
});
