// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { synthesize } from "../../constructs/index.ts";
import { listEnvironments } from "../../model/index.ts";
import {
  allEnvironments,
  instancesOf,
  machineOf,
  repositoryRoot,
  type StackJson,
  stackOf,
  withProject,
  withSynth,
} from "./project.ts";

const environments = listEnvironments(repositoryRoot);
const golden = new URL("../golden/stacks/", import.meta.url);
const simulated = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
const withWorkers = `${simulated}workers: [{ count: 1 }]\n`;

function compare(file: string, text: string): void {
  const path = new URL(file, golden);
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}

function addresses(stack: StackJson): string {
  const data = Object.entries(stack.data ?? {});
  const sources = data.flatMap(([type, byId]) => Object.keys(byId).map((id) => `data.${type}.${id}`));
  return `${[...instancesOf(stack).keys(), ...sources].sort().join("\n")}\n`;
}

/** The same data with the keys of every mapping in another order. */
function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((inner) => shuffled(inner, seed));
  if (typeof value !== "object" || value === null) return value;
  const weight = (key: string) => Math.sin(seed * 31 + key.length * 7 + key.charCodeAt(0) * 13);
  const entries = Object.entries(value).sort(([left], [right]) => weight(left) - weight(right));
  return Object.fromEntries(entries.map(([key, inner]) => [key, shuffled(inner, seed)]));
}

describe("synthesize", () => {
  it.each(allEnvironments())("writes the stack of $name as it is in test/golden", ({ name, root }) => {
    withSynth(root, [name], (result, text) => {
      expect(result.failures).toEqual([]);
      compare(`${name}.tf.json`, `${text(name)}\n`);
    });
  });

  const workspace = (name: string) => `cdktf.out/stacks/lab/terraform.tfstate.d/${name}/terraform.tfstate`;
  const member = (...instances: readonly object[]) => ({ resources: [{ type: "talosmith_member", instances }] });
  it.each<[string, string, object, boolean]>([
    ["in the project's file", "state/lab.tfstate", member({}), true],
    ["of another workspace", workspace("dev"), member({ index_key: "w-1" }, {}), true],
    ["in the project's file, carried over already", "state/lab.tfstate", member({ index_key: "cp-1" }), false],
    ["of another workspace, carried over already", workspace("dev"), member({ index_key: "cp-1" }), false],
  ])("moves a state of 0.1.0 %s", (_, path, state, isMoved) => {
    withProject({ "lab.yaml": simulated }, (projectRoot) => {
      mkdirSync(dirname(join(projectRoot, path)), { recursive: true });
      writeFileSync(join(projectRoot, path), JSON.stringify(state));
      const outdir = join(projectRoot, "cdktf.out");
      expect(synthesize({ projectRoot, outdir }).failures).toEqual([]);
      const text = readFileSync(join(outdir, "stacks/lab/cdk.tf.json"), "utf8");
      expect(JSON.parse(text).moved !== undefined).toBe(isMoved);
    });
  });

  it.each(allEnvironments())(
    "keeps the addresses of $name: a changed one destroys what stands at it",
    ({ name, root }) => {
      withSynth(root, [name], (_, text) => compare(`${name}.addresses.txt`, addresses(JSON.parse(text(name)))));
    },
  );

  it("writes no absolute path and nothing that depends on where it runs", () => {
    withSynth(repositoryRoot, undefined, (_, first) =>
      withSynth(repositoryRoot, undefined, (__, second) => {
        for (const name of environments) {
          expect(first(name)).toBe(second(name));
          expect(first(name)).not.toContain(repositoryRoot);
          expect(first(name)).not.toContain(tmpdir());
        }
      }),
    );
  });

  it("writes the same bytes whatever the order of the keys in the file", () => {
    const data = {
      cluster: {
        name: "a",
        patches: { all: [{ machine: { type: "worker", sysctls: { p: "1", q: "2" } } }] },
        registryMirrors: { b: ["http://b"], a: ["http://a"] },
      },
      infrastructure: {
        kind: "libvirt",
        trustOnFirstUse: true,
        network: { cidr: "10.0.0.0/24", vip: "10.0.0.9" },
        storagePool: { name: "p", path: "/p" },
      },
      controlPlane: { count: 1, labels: { b: "1", a: "2" }, taints: { c: "NoSchedule", a: "NoExecute" } },
      workers: [{ name: "w", count: 1, cpu: 4 }],
    };
    const text = (value: object) =>
      withProject({ "sample.yaml": stringify(value) }, (root) =>
        withSynth(root, ["sample"], (_, read) => read("sample")),
      );
    const expected = text(data);
    for (let seed = 1; seed <= 100; seed += 1) expect(text(shuffled(data, seed) as object)).toBe(expected);
  });

  it("writes the others when one environment has a fault, and returns the fault", () => {
    withProject({ "good.yaml": simulated, "bad.yaml": "infrastructure: { kind: nope }\n" }, (root) =>
      withSynth(root, undefined, (result, text) => {
        expect(result.stacks.map((stack) => stack.environment.name)).toEqual(["good"]);
        expect(result.failures.map((failure) => failure.environment)).toEqual(["bad"]);
        expect(result.failures[0]?.error.message).toContain("environments/bad.yaml:1:25");
        expect(text("good")).toContain("talosmith_cluster");
      }),
    );
  });

  it("says that an environment that is asked for is not there", () => {
    withProject({ "good.yaml": simulated }, (root) =>
      withSynth(root, ["other"], (result) => expect(result.failures[0]?.error.message).toContain("no such file")),
    );
  });

  it("escapes what Terraform would take for a template in text and in keys", () => {
    const stack = stackOf(`${simulated}cluster:
  patches:
    all:
      - "machine: { env: { A: '\${HOME} %{ if x } $\${kept}' } }"
`);
    expect(machineOf(stack, "sample-cp-1").patches).toEqual(["machine: { env: { A: '${HOME} %{ if x } $${kept}' } }"]);
  });

  it("turns labels and taints into a patch for the machines of the pool, by the Talos release", () => {
    const yaml = (version: string) => `${simulated}cluster: { talosVersion: ${version} }
workers: [{ count: 1, labels: { tier: front }, taints: { dedicated: "gpu:NoSchedule" } }]
`;
    const patchesOf = (version: string) => machineOf(stackOf(yaml(version)), "sample-w-1").patches;
    expect(patchesOf("v1.13.9")).toEqual([
      "machine:\n  nodeLabels:\n    tier: front\n  nodeTaints:\n    dedicated: gpu:NoSchedule\n",
    ]);
    expect(patchesOf("v1.14.0")).toEqual([
      "apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels:\n  tier: front\ntaints:\n  dedicated: gpu:NoSchedule\n",
    ]);
  });

  it("passes on what differs from the defaults, and only that", () => {
    const plain = Object.keys(stackOf(withWorkers).resource.talosmith_cluster?.cluster ?? {});
    expect(plain).toEqual([
      "//",
      "config_contract",
      "endpoint",
      "infrastructure_kind",
      "kubernetes_version",
      "machines",
      "name",
      "talos_version",
    ]);
    const stack = stackOf(`${simulated}cluster:
  domain: k8s.local
  cni: { urls: ["https://example.com/cni.yaml"] }
  kubespan: true
  allowSchedulingOnControlPlanes: true
  certSans: [k8s.example.com]
  podCidrs: [10.10.0.0/16]
  installDisk: /dev/vda
  registryMirrors: { docker.io: ["http://mirror:5000"] }
rollout:
  { maxUnavailable: 25%, drainTimeout: 10m, stuckPods: delete, revertFailedUpgrades: false, healthLevel: api,
    gates: [{ command: [./check.sh] }, { url: https://example.com, timeout: 1m }],
    windows: [{ schedule: 0 22 * * 5, duration: 4h, timeZone: Europe/Berlin }], canary: { machines: 2 } }
`);
    expect(stack.resource.talosmith_cluster?.cluster).toMatchObject({
      dns_domain: "k8s.local",
      cni: "custom",
      cni_urls: ["https://example.com/cni.yaml"],
      kubespan: true,
      allow_scheduling_on_control_planes: true,
      additional_sans: ["k8s.example.com"],
      pod_subnets: ["10.10.0.0/16"],
      install_disk: "/dev/vda",
      registry_mirrors: { "docker.io": ["http://mirror:5000"] },
      rollout: {
        max_unavailable: "25%",
        drain_timeout: "600s",
        stuck_pods: "delete",
        revert_failed_upgrades: false,
        health_level: "api",
        gates: [{ command: ["./check.sh"] }, { url: "https://example.com", timeout: "60s" }],
        windows: [{ schedule: "0 22 * * 5", duration: "14400s", time_zone: "Europe/Berlin" }],
        canary: { machines: 2 },
      },
    });
    const alone = stackOf(`${simulated}cluster: { discovery: false }\n`);
    expect(alone.resource.talosmith_cluster?.cluster).toMatchObject({ discovery: false });
  });

  it.each([
    ["{ kind: local }", { local: { path: "../../../state/sample.tfstate" } }],
    [
      "{ kind: s3, bucket: states, region: eu-central-1 }",
      {
        s3: {
          bucket: "states",
          encrypt: true,
          key: "talosmith/sample.tfstate",
          region: "eu-central-1",
          use_lockfile: true,
        },
      },
    ],
    [
      "{ kind: s3, bucket: states, region: garage, endpoint: 'https://s3.example.com', key: lab }",
      {
        s3: {
          bucket: "states",
          encrypt: true,
          endpoints: { s3: "https://s3.example.com" },
          key: "lab",
          region: "garage",
          // What Terraform would ask Amazon about, which knows nothing of this store.
          skip_credentials_validation: true,
          skip_region_validation: true,
          skip_requesting_account_id: true,
          skip_s3_checksum: true,
          use_lockfile: true,
          use_path_style: true,
        },
      },
    ],
    ["{ kind: http, address: 'https://states.example.com/x' }", { http: { address: "https://states.example.com/x" } }],
  ])("keeps the state where the environment says: %s", (backend, expected) => {
    expect(stackOf(`${simulated}backend: ${backend}\n`).terraform.backend).toEqual(expected);
  });

  it("reads another environment's state without locking it, which older Terraforms do not know", () => {
    const planes = `${simulated}backend: { kind: s3, bucket: states, region: eu-central-1 }\n`;
    const workers =
      "infrastructure: { kind: simulated }\ncontrolPlaneRef: { environment: planes }\nworkers: [{ name: more, count: 1 }]\n";
    const { data, terraform } = stackOf(workers, { "planes.yaml": planes });
    expect(data?.terraform_remote_state?.control_plane).toMatchObject({
      config: { bucket: "states", encrypt: true, key: "talosmith/planes.tfstate", region: "eu-central-1" },
    });
    expect(data?.terraform_remote_state?.control_plane?.config).not.toHaveProperty("use_lockfile");
    expect(terraform).toMatchObject({ required_version: ">= 1.8.0" });
  });

  it("is what the app in cdktf.json runs, with the CLI's output folder", () => {
    const folder = mkdtempSync(join(tmpdir(), "talosmith-app-"));
    try {
      const { app } = JSON.parse(readFileSync(join(repositoryRoot, "cdktf.json"), "utf8")) as { app: string };
      const [command = "", ...args] = app.split(" ");
      const outdir = join(folder, "out");
      execFileSync(command, args, {
        cwd: repositoryRoot,
        env: { ...process.env, CDKTF_OUTDIR: outdir, CDKTF_CONTEXT_JSON: "{}" },
        stdio: "pipe",
      });
      const manifest = JSON.parse(readFileSync(join(outdir, "manifest.json"), "utf8")) as { stacks: object };
      expect(Object.keys(manifest.stacks)).toEqual([...environments]);
      expect(existsSync(join(outdir, "stacks/local/cdk.tf.json"))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
