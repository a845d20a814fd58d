// SPDX-License-Identifier: Apache-2.0
// Pages about machines and clusters that are there already, and examples on simulated machines.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { startMoto } from "../support/moto.ts";
import { findProgram } from "../support/programs.ts";
import { makeBucket, motoSettings, openWithOwnProvider } from "./clouds.ts";
import { edit, openForeign, openMetalExample, withMachines, withServer } from "./found-worlds.ts";
import type { Walk } from "./walk.ts";
import { environments, noTerraform, openCluster, openProject, simulated, terraform } from "./worlds.ts";

const ofOthers = "a cluster on the simulator that others made";
/** Each line that adopts is for somebody who has not. */
const notAdopted = ["rm -rf environments/lab.yaml secrets state generated"];
const standInHelm = resolve("test/support/stand-in-helm.mjs");
const helmSettings = {
  TALOSMITH_HELM: process.env.TALOSMITH_HELM ?? findProgram("helm") ?? standInHelm,
  STAND_IN_HELM: "releases.json",
};

/** An image factory that has every image and takes every schematic. */
async function factory(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.toArray()).join("");
  if (request.method === "POST") response.setHeader("content-type", "application/json").writeHead(201);
  response.end(
    request.method === "POST"
      ? JSON.stringify({ id: createHash("sha256").update(body).digest("hex") })
      : Buffer.alloc(4096, "image"),
  );
}

/** Keeps a state for terraform; somebody who died holds its lock. */
const lockId = "8f14e45f-ceea-467f-9b2d-5c7d2f0a6a11";
function lockedState(): (request: IncomingMessage, response: ServerResponse) => void {
  const kept = new Map([["lock", JSON.stringify({ ID: lockId, Operation: "OperationTypeApply", Who: "someone@ci" })]]);
  return async (request, response) => {
    const { method } = request;
    const body = (await request.toArray()).join("");
    const [held, state] = [kept.get("lock"), kept.get("state")];
    if (method === "LOCK" && held !== undefined) return void response.writeHead(423).end(held);
    if (method === "GET") return void response.writeHead(state === undefined ? 404 : 200).end(state);
    if (method === "LOCK") kept.set("lock", body);
    else if (method === "UNLOCK") kept.delete("lock");
    else kept.set("state", body);
    response.end();
  };
}

const example = (name: string, more: Partial<Walk> = {}): Walk => ({
  page: `examples/${name}/README.md`,
  name: "the simulator",
  open: async () => openProject({ from: `examples/${name}`, env: helmSettings }),
  ...more,
});

export const foundWalks: readonly Walk[] = [
  {
    page: "docs/metal.md",
    name: "simulated machines, and a stand-in for the image factory",
    open: () =>
      withServer(factory, async (url) => {
        const world = await withMachines(openProject(), ["10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.21"]);
        const withFactory = {
          "fetch iso": `fetch iso --factory-url ${url}`,
          "--register": `--register --factory-url ${url}`,
        };
        return { ...world, put: { ...world.put, ...withFactory } };
      }),
    shows: { "npx talosmith up rack": "rack is up: 3 control planes, 1 worker" },
  },
  {
    page: "docs/migrating.md",
    name: ofOthers,
    open: openForeign,
    before: {
      "npx talosmith adopt": notAdopted,
      "npx talosmith gen secrets --from-terraform-state": ["rm -f secrets/lab.yaml"],
      "npx talosmith gen secrets --from-kubernetes-pki": ["rm -f secrets.yaml"],
      "npx talosmith gen secrets --from-controlplane-config": [
        "rm secrets/lab.yaml",
        "npx talosmith get mc v1alpha1 -n 10.0.0.11 -o json | node -p 'JSON.parse(fs.readFileSync(0)).spec' > controlplane.yaml",
      ],
    },
    shows: {
      "npx talosmith plan lab": "Nothing to change",
      "terraform state rm": "Removed talos_machine_secrets.this",
    },
  },
  {
    page: "docs/concepts.md",
    name: ofOthers,
    open: openForeign,
    before: { "npx talosmith adopt": notAdopted },
    shows: { "npx talosmith adopt": "Adopted 2 machines" },
  },
  {
    page: "docs/addons.md",
    name: "a cluster on the simulator, with helm or a stand-in for it",
    open: () =>
      openCluster({
        name: "local",
        more: "addons: [{ name: app, chart: ./charts/app }]\n",
        first: [
          `mkdir charts && cp -r ${resolve("examples/cluster-addon/charts/hello")} charts/app`,
          "npx talosmith up local",
        ],
        env: helmSettings,
      }),
    before: {
      "npx talosmith addon rollback": [
        "sed -i 's/name: app,/name: app, values: { replicas: 2 },/' environments/local.yaml",
        "npx talosmith addon apply local",
      ],
    },
  },
  {
    page: "docs/ci.md",
    name: "the real terraform, our real provider and a stand-in for AWS",
    open: () => openWithOwnProvider({ files: { "cdktf.json": "{}", ...environments("base", "staging") } }),
    shows: {
      "npx talosmith review plan.json": "Cluster `staging`",
      "npx talosmith review staging": "What a first apply makes",
    },
  },
  {
    page: "docs/break-glass.md",
    name: "the real terraform, and a state whose lock somebody holds who died",
    open: async () =>
      terraform === undefined
        ? noTerraform
        : withServer(lockedState(), async (url) => {
            const backend = `backend: { kind: http, address: "${url}", lockAddress: "${url}", unlockAddress: "${url}" }\n`;
            const files = { "cdktf.json": "{}", "environments/lab.yaml": simulated("", backend) };
            const world = openProject({ files, programs: { terraform } });
            return { ...world, put: { ...world.put, "<id>": lockId } };
          }),
    only: ["terraform force-unlock"],
    before: {
      "terraform force-unlock": [
        "npx talosmith synth lab && cd cdktf.out/stacks/lab && terraform init",
        "! terraform plan -no-color 2>&1 | grep -q 'Plan:'",
      ],
    },
    after: { "terraform force-unlock": ["terraform plan -no-color | grep 'Plan:'"] },
  },
  example("etcd-backup"),
  example("terraform-test", {
    open: async () =>
      terraform === undefined ? noTerraform : openProject({ from: "examples/terraform-test", programs: { terraform } }),
    shows: { "terraform test": "4 passed, 0 failed." },
  }),
  example("talos-client", {
    open: async () => {
      const world = openProject({ files: {} });
      // In its place in a checkout, where its imports lead somewhere.
      mkdirSync(world.shell.root, { recursive: true });
      cpSync(resolve("examples/talos-client"), world.shell.root, { recursive: true });
      const main = resolve("examples/talos-client/main.ts");
      return { ...world, put: { tsx: import.meta.resolve("tsx"), "main.ts": main } };
    },
    shows: { "node --import": "talos-client-cp-1 v1.13.9: apid, " },
  }),
  example("cluster-addon", { name: "the simulator, with helm or a stand-in for it" }),
  example("etcd-backup-schedule", {
    name: "the simulator, and moto for the bucket",
    open: async () => {
      const moto = await startMoto();
      if ("missing" in moto) return moto;
      await makeBucket(moto, "example-backups");
      const world = openProject({ from: "examples/etcd-backup-schedule", env: motoSettings(moto) });
      edit(world, "etcd-backup-schedule", (file) => file.setIn(["backup", "s3", "endpoint"], moto.endpoint));
      return {
        ...world,
        async close() {
          await world.close();
          moto.stop();
        },
      };
    },
    // What `backup run` does at three o'clock.
    after: {
      "npx talosmith backup run": [
        "npx talosmith backup create etcd-backup-schedule",
        "npx talosmith backup list etcd-backup-schedule | grep -E 'schedule-[0-9]{8}T'",
      ],
    },
  }),
  example("controlplane-metal", { name: "a simulated machine", open: () => openMetalExample("controlplane-metal") }),
  example("cluster-metal", {
    name: "simulated machines, without the shared address that loopback has no room for",
    open: async () => {
      const world = await openMetalExample("cluster-metal");
      edit(world, "cluster-metal", (file) => {
        file.deleteIn(["infrastructure", "network"]);
        file.deleteIn(["infrastructure", "diskSelector"]);
      });
      return world;
    },
  }),
  example("worker-metal", {
    name: "the real terraform and simulated machines, below a control plane that is simulated",
    open: async () => {
      if (terraform === undefined) return noTerraform;
      const world = await openMetalExample("worker-metal", { programs: { terraform }, inside: true });
      edit(world, "controlplane", (file) => file.set("infrastructure", { kind: "simulated" }));
      return world;
    },
    after: { "npx talosmith deploy worker-metal": ["npx talosmith plan worker-metal"] },
  }),
  example("controlplane-with-cni", {
    name: "the simulator, with a chart of its own for Cilium's and a stand-in for helm",
    open: async () => {
      const env = { ...helmSettings, TALOSMITH_HELM: standInHelm };
      const world = openProject({ from: "examples/controlplane-with-cni", env });
      const chart = join(world.shell.root, "charts/cilium/templates");
      mkdirSync(chart, { recursive: true });
      writeFileSync(join(chart, "../Chart.yaml"), "apiVersion: v2\nname: cilium\nversion: 1.19.4\n");
      cpSync(resolve("test/support/network-pods.json"), join(chart, "daemon-set.json"));
      edit(world, "controlplane-with-cni", (file) => {
        file.setIn(["addons", 0, "chart"], "./charts/cilium");
        for (const key of ["repository", "version"]) file.deleteIn(["addons", 0, key]);
      });
      return world;
    },
    after: { "npx talosmith deploy": ["npx talosmith plan controlplane-with-cni"] },
  }),
];
