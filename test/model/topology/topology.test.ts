// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { loadEnvironment, parseEnvironment } from "../../../model/index.ts";
import {
  machineBoxes,
  renderTopology,
  type SeenMachine,
  type Topology,
  topologyOf,
  withLiveState,
} from "../../../model/topology/index.ts";

const environments = ["local", "lab", "sandbox", "staging", "production"];
const renderSvg = (found: Topology) => renderTopology(found, "svg");
const renderMermaid = (found: Topology) => renderTopology(found, "mermaid");
const topology = (name: string) => topologyOf(loadEnvironment(".", name));

describe("the topology of an environment file", () => {
  test("spreads machines over the zones and leaves scaling groups outside of them", () => {
    const { places, elastic, endpoint } = topology("production");
    expect(places.map(({ name, machines }) => [name, machines.map((machine) => machine.name)])).toEqual([
      ["eu-central-1a", ["production-cp-1", "production-general-3"]],
      ["eu-central-1b", ["production-cp-2", "production-general-1"]],
      ["eu-central-1c", ["production-cp-3", "production-general-2"]],
    ]);
    expect(elastic).toEqual([{ name: "burst", min: 0, max: 10 }]);
    expect(endpoint).toMatchObject({
      through: "network load balancer",
      name: "k8s.prod.example.com",
      ports: [6443, 50000],
    });
  });

  test("knows addresses and the shared one where the file decides them", () => {
    const { places, endpoint, network } = topology("lab");
    expect(places.flatMap(({ machines }) => machines.map(({ address }) => address))).toEqual([
      "10.0.0.70",
      "10.0.0.71",
      "10.0.0.72",
      "10.0.0.80",
      "10.0.0.81",
    ]);
    expect(endpoint).toMatchObject({ through: "virtual address", name: "10.0.0.100" });
    expect(network).toBe("10.0.0.0/24 on br0");
  });

  test("shows only the first control plane behind an endpoint that is that machine", () => {
    expect(topology("local").endpoint).toMatchObject({ through: "first control plane", machines: ["local-cp-1"] });
  });

  test("names zones that the file only counts", () => {
    const yaml =
      "infrastructure: { kind: aws, zones: 2, region: eu-west-1, adminCidrs: [203.0.113.7/32] }\ncontrolPlane: { count: 3 }\n";
    const environment = parseEnvironment("x", (file) => (file === "environments/x.yaml" ? yaml : undefined));
    expect(topologyOf(environment).places.map(({ name }) => name)).toEqual(["eu-west-1a", "eu-west-1b"]);
  });
});

describe("the pictures", () => {
  test.each(environments)("of %s go onto a telephone, with every machine below the one before", (name) => {
    const { width, height, machines } = machineBoxes(topology(name), "narrow");
    expect(width).toBeLessThanOrEqual(388);
    const wide = machineBoxes(topology(name), "wide").machines;
    expect(machines.map((machine) => machine.name)).toEqual(wide.map((machine) => machine.name));
    for (const [index, { x, y, width: across, height: down }] of machines.entries()) {
      expect([x + across < width, y + down < (machines[index + 1]?.y ?? height)]).toEqual([true, true]);
    }
  });

  test.each(environments)("of %s are the same each time and name every machine", (name) => {
    const found = topology(name);
    const names = found.places.flatMap(({ machines }) => machines.map((machine) => machine.name));
    for (const render of [renderSvg, renderMermaid]) {
      expect(render(topology(name))).toBe(render(found));
      for (const machine of names) expect(render(found)).toContain(machine);
    }
  });

  test("tell states by shape as well as by colour, with a legend of those that are there", () => {
    const seen = new Map<string, SeenMachine>([
      ["local-cp-1", { state: "ready", address: "127.1.0.1", note: "v1.13.9" }],
      ["local-w-1", { state: "unreachable", note: "refused" }],
    ]);
    const svg = renderSvg(withLiveState(topology("local"), seen));
    expect(svg).toContain('<circle class="ready"');
    expect(svg).toContain('<path class="unreachable"');
    expect(svg).toContain(">unreachable</text>");
    expect(svg).not.toContain(">maintenance</text>");
    expect(svg).toContain("127.1.0.1");
  });

  test("tell the ports of a machine that is well beside its version, and of one that is not what is the matter", () => {
    const seen = new Map<string, SeenMachine>([
      ["local-cp-1", { state: "ready", note: "v1.13.9" }],
      ["local-w-1", { state: "unreachable", note: "refused" }],
    ]);
    const svg = renderSvg(withLiveState(topology("local"), seen));
    expect(svg).toContain(">v1.13.9 · ports 6443, 50000, 2379</text>");
    expect(svg).toContain(">refused</text>");
    expect(svg).toContain(">port 50000</text>");
  });

  test.each(["local", "lab", "sandbox"])("of %s have the endpoint over the machines it leads to", (name) => {
    const svg = renderSvg(topology(name));
    const endpoint = Number(/class="endpoint" x="([\d.]+)"/.exec(svg)?.[1]) + 130;
    const ends = [...svg.matchAll(/class="link" d="M([\d.]+) [^"]* ([\d.]+) [\d.]+"/g)];
    expect(ends.length).toBe(topology(name).endpoint.machines.length);
    for (const [, from] of ends) expect(Number(from)).toBe(endpoint);
    const columns = ends.map(([, , to]) => Number(to));
    expect(endpoint).toBeGreaterThanOrEqual(Math.min(...columns));
    expect(endpoint).toBeLessThanOrEqual(Math.max(...columns));
  });

  test("bring the ground that their colours were chosen for", () => {
    expect(renderSvg(topology("local"))).toContain('<rect class="page" width="100%" height="100%"/>');
  });

  test("have room for any address, and end a line that is longer than a card, with all of it to be asked for", () => {
    for (let digits = 1; digits <= 12; digits++) {
      const address = "127.250.250.250".slice(0, digits + 3);
      const svg = renderSvg(withLiveState(topology("local"), new Map([["local-cp-1", { state: "ready", address }]])));
      expect(svg).toContain(`control plane · ${address}<`);
    }
    const note = "the connection was refused, ".repeat(4);
    const svg = renderSvg(withLiveState(topology("local"), new Map([["local-w-1", { state: "unreachable", note }]])));
    expect(svg).toMatch(/>the connection was refused, the[^<]{1,20}…<\/text>/);
    expect(svg).toMatch(new RegExp(`<title>local-w-1\nworker\n${note}</title>`));
  });

  test("count a large pool, and still show whoever is in trouble", () => {
    const base = topology("local");
    const worker = base.places[0]?.machines.find(({ role }) => role === "worker");
    if (worker === undefined) throw new Error("local has no worker");
    const machines = Array.from({ length: 100 }, (_, index) => ({
      ...worker,
      name: `w-${index + 1}`,
      state: "ready" as const,
    }));
    const places = [
      { name: "here", machines: machines.map((m) => (m.name === "w-77" ? { ...m, state: "starting" as const } : m)) },
    ];
    const svg = renderSvg({ ...base, places });
    expect(svg).toContain("92 more");
    expect(svg).toContain(">w-77</text>");
    expect(svg).not.toContain(">w-50</text>");
  });

  test("write foreign text so that it stays text", () => {
    const hostile = '"><script>alert(1)</script>&';
    const found = { ...topology("local"), cluster: hostile, network: hostile };
    expect(renderSvg(found)).not.toContain("<script>");
    expect(renderMermaid(found)).not.toContain("<script>");
    expect(renderMermaid(found)).not.toContain('""');
  });
});
