// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { listEnvironments, loadEnvironment, machinesOf, parseEnvironment } from "../../../model/index.ts";

const root = new URL("../../..", import.meta.url).pathname;

function parse(files: { readonly [name: string]: string }, name = "sample") {
  return parseEnvironment(name, (file) => files[file.replace("environments/", "").replace(".yaml", "")]);
}

describe("the environments of this repository", () => {
  it("are all without faults, and without warnings but that a shared state is yours to set up", () => {
    for (const name of listEnvironments(root)) {
      const { warnings, kind } = loadEnvironment(root, name);
      expect(
        warnings.map(({ path }) => path),
        name,
      ).toEqual(kind === "aws" ? ["backend"] : []);
    }
  });

  it("do not count base.yaml as one", () => {
    expect(listEnvironments(root)).not.toContain("base");
    expect(listEnvironments(root)).toContain("local");
  });

  it("give local three control planes and two workers with stable names", () => {
    const names = machinesOf(loadEnvironment(root, "local")).map((machine) => machine.name);
    expect(names).toEqual(["local-cp-1", "local-cp-2", "local-cp-3", "local-w-1", "local-w-2"]);
  });
});

describe("loadEnvironment", () => {
  it("names a file that is there and cannot be read", () => {
    const root = mkdtempSync(join(tmpdir(), "talosmith-environments-"));
    try {
      mkdirSync(join(root, "environments"));
      symlinkSync("lab.yaml", join(root, "environments", "lab.yaml"));
      const refusal = "open environments/lab.yaml: too many symbolic links encountered";
      expect(() => loadEnvironment(root, "lab")).toThrow(
        expect.objectContaining({ name: "TalosError", message: refusal }),
      );
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

describe("parseEnvironment", () => {
  const shortest = "infrastructure: { kind: simulated }\ncontrolPlane: {}\n";

  it.each(["fd00:10::1", "fe80::1"])("takes metal machines with IPv6 addresses, behind the gateway %s", (gateway) => {
    const network = { cidr: "fd00:10::/64", gateway, nameservers: ["fd00:10::53", "10.0.0.53"], vip: "fd00:10::a" };
    const machines = { "cp-1": { address: "fd00:10::11", role: "controlplane", link: "eth0" } };
    const infrastructure = { kind: "metal", trustOnFirstUse: true, network, machines };
    const environment = parse({ sample: stringify({ infrastructure, controlPlane: {} }) });
    expect(environment).toMatchObject({ infrastructure: { network }, warnings: [] });
  });

  it("fills in every default of the shortest file", () => {
    const environment = parse({ sample: shortest });
    expect(environment.cluster).toMatchObject({
      name: "sample",
      talosVersion: "v1.13.9",
      kubernetesVersion: "1.36.3",
      domain: "cluster.local",
      cni: "flannel",
    });
    expect(environment.controlPlane).toMatchObject({ count: 1 });
    expect(environment.secrets.file).toBe("secrets/sample.yaml");
    expect(environment.backend).toEqual({ kind: "local" });
  });

  it("takes the Kubernetes version from the Talos release when none is named", () => {
    const environment = parse({ sample: `${shortest}cluster: { talosVersion: v1.12.11 }\n` });
    expect(environment.cluster.kubernetesVersion).toBe("1.35.4");
  });

  it("accepts a Kubernetes version with a v and keeps it without", () => {
    const environment = parse({ sample: `${shortest}cluster: { kubernetesVersion: v1.35.2 }\n` });
    expect(environment.cluster.kubernetesVersion).toBe("1.35.2");
  });

  it.each([
    ["a mapping is merged key by key", "{ name: a, kubespan: true }", "{ name: b }", { name: "b", kubespan: true }],
    ["a list is replaced", "{ certSans: [a, b] }", "{ certSans: [c] }", { certSans: ["c"] }],
    ["null takes the base's value away", "{ name: a }", "{ name: null }", { name: "sample" }],
  ])("merges the base under the environment: %s", (_, base, own, expected) => {
    const environment = parse({ base: `cluster: ${base}\n`, sample: `${shortest}cluster: ${own}\n` });
    expect(environment.cluster).toMatchObject(expected);
  });

  it("reads a control plane, a pool and a patch from files of their own", () => {
    const environment = parse({
      sample: `infrastructure: { kind: simulated }
controlPlaneRef: ./cp.yaml
workers: [{ workerRef: ./pool.yaml }]
cluster: { patches: { all: [{ configRef: ./patch.yaml }, { machine: { type: worker, nodeLabels: { tier: web } } }] } }
`,
      cp: "count: 3\n",
      pool: "name: gpu\ncount: 4\npatches: [{ configRef: patch.yaml }]\n",
      patch: "machine:\n  sysctls: { vm.swappiness: '1' }\n",
    });
    const text = "machine:\n  sysctls: { vm.swappiness: '1' }\n";
    expect(environment.controlPlane).toMatchObject({ count: 3 });
    expect(environment.workers).toMatchObject([{ name: "gpu", count: 4, patches: [text] }]);
    expect(environment.cluster.patches.all).toEqual([text, "machine:\n  nodeLabels:\n    tier: web\n  type: worker\n"]);
  });

  it("lets an environment's reference replace the control plane of the base, and the other way round", () => {
    const files = { cp: "count: 5\n", base: "controlPlane: { count: 3 }\n" };
    const sample = "infrastructure: { kind: simulated }\ncontrolPlaneRef: ./cp.yaml\n";
    expect(parse({ ...files, sample }).controlPlane).toMatchObject({ count: 5 });
  });

  it("gives workers of another environment's control plane its name, versions and secrets", () => {
    const environment = parse({
      base: "cluster: { kubernetesVersion: 1.36.1 }\n",
      production: `${shortest}cluster: { name: prod, kubernetesVersion: 1.35.2, domain: k8s.local }\n`,
      sample: `infrastructure: { kind: simulated }
controlPlaneRef: { environment: production }
workers: [{ name: extra, count: 3 }]
`,
    });
    expect(environment.cluster).toMatchObject({ name: "prod", kubernetesVersion: "1.35.2", domain: "k8s.local" });
    expect(environment.secrets.file).toBe("secrets/production.yaml");
    expect(environment.joins?.name).toBe("production");
    expect(machinesOf(environment).map((machine) => machine.name)).toEqual([
      "prod-extra-1",
      "prod-extra-2",
      "prod-extra-3",
    ]);
  });

  it("refuses environments that join each other in a circle", () => {
    const joining = (other: string) =>
      `infrastructure: { kind: simulated }\ncontrolPlaneRef: { environment: ${other} }\n`;
    const files = { sample: joining("second"), second: joining("third"), third: joining("second") };
    expect(() => parse(files)).toThrow(/controlPlaneRef[\s\S]*found environment second with 1 fault/);
  });

  it("reads the same environment whatever the order of the keys", () => {
    const data = {
      cluster: {
        name: "a",
        patches: { all: [{ machine: { type: "worker", sysctls: { p: "1", q: "2" } } }] },
        cni: "flannel",
      },
      infrastructure: { kind: "simulated" },
      controlPlane: { count: 3, labels: { b: "1", a: "2" } },
      workers: [{ name: "w", count: 1 }],
    };
    const expected = JSON.stringify(sorted(parse({ sample: stringify(data) })));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(JSON.stringify(sorted(parse({ sample: stringify(shuffled(data, seed)) })))).toBe(expected);
      }),
      { numRuns: 50 },
    );
  });

  it("never fails otherwise than with an EnvironmentError, whatever the file says", () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom("cluster", "infrastructure", "kind", "workers", "name", "x") }),
        (data) => {
          expect(() => parse({ sample: stringify(data) })).toThrow(/in environment sample/);
        },
      ),
      { numRuns: 200, examples: [[{ cluster: 2 ** 53 }], [{ infrastructure: { kind: 2 ** 60 } }]] },
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((inner) => shuffled(inner, seed));
  if (typeof value !== "object" || value === null) return value;
  const weight = (key: string) => Math.sin(seed + key.length * 7 + key.charCodeAt(0) * 13);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => weight(left) - weight(right))
      .map(([key, inner]) => [key, shuffled(inner, seed)]),
  );
}
