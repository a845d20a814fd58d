// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { secretNames } from "../../operator/cluster-secrets.ts";
import { defaultTimings, scaleTimings } from "../../simulator/index.ts";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { Laboratory } from "../simulator/laboratory.ts";
import { shellWords } from "../support/command-line.ts";
import { pageItems } from "../support/pages.ts";
import { findProgram } from "../support/programs.ts";
import { Scene } from "./scene.ts";

const kubectl = findProgram("kubectl");
const folder = "examples/objects";
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const page = pageItems("docs/kubernetes-native.md").filter(({ command, inline }) => command && !inline);

interface Example {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

const exampleOf = (file: string): Example =>
  parseAllDocuments(readFileSync(join(folder, file), "utf8"))[0]?.toJS() as Example;

describe("the examples of objects", () => {
  const { TMPDIR } = process.env;
  let lab: Laboratory;
  let scene: Scene;
  let kubeconfig = "";

  beforeAll(async () => {
    lab = await Laboratory.open("objects", { timings: scaleTimings(defaultTimings, 0.3) });
    const [first] = await lab.cluster(1, 0);
    const { identity } = await KubernetesClient.open(lab, first?.address ?? "");
    const { ca, cert: certificate, key } = identity;
    const server = `https://${first?.address ?? ""}:6443`;
    scene = await Scene.open({ servers: [server], ca, certificate, key });
    process.env.TMPDIR = scene.folder;
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    kubeconfig = join(scene.folder, "kubeconfig");
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "lab" },
      clusters: [{ name: "lab", cluster: { server, "certificate-authority-data": base64(ca) } }],
      users: [
        { name: "lab", user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) } },
      ],
      contexts: [{ name: "lab", context: { cluster: "lab", user: "lab", namespace: scene.namespace } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  });

  afterAll(async () => {
    await scene.close();
    await lab.close();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  test.each(files)("%s is taken by the API server", async (file) => {
    const { kind, metadata, spec } = exampleOf(file);
    const made = await scene.apply(kind, metadata.name, spec);
    expect(made.metadata.name).toBe(metadata.name);
    await scene.delete(kind, metadata.name);
  });

  test("have one file for each kind that a person writes", () => {
    const kinds = [
      "TalosCluster",
      "TalosClusterAddon",
      "TalosEtcdBackup",
      "TalosEtcdBackupSchedule",
      "TalosMachinePool",
    ];
    expect([...new Set(files.map((file) => exampleOf(file).kind))].sort()).toEqual(kinds);
  });

  test("for GitOps name the Secrets and kinds that there are, and prune no cluster", () => {
    const read = (file: string) =>
      parseAllDocuments(readFileSync(join(folder, "gitops", file), "utf8")).map((document) => {
        expect(document.errors).toEqual([]);
        return document.toJS();
      });
    const [, clusters, apps] = read("flux.yaml");
    expect(clusters.spec).toMatchObject({ wait: true, prune: false });
    expect(apps.spec.kubeConfig.secretRef).toEqual({ name: secretNames("lab").kubeconfig });
    expect(read("argocd-application.yaml")[0].spec.syncPolicy.automated.prune).toBe(false);
  });

  test.skipIf(kubectl === undefined)(
    "every kubectl line of the page does what it says",
    { timeout: 300_000 },
    async () => {
      const helm = {
        TALOSMITH_HELM: join(process.cwd(), "test/support/stand-in-helm.mjs"),
        STAND_IN_HELM: join(scene.folder, "helm"),
      };
      scene.operate({ env: { ...helm, TALOSMITH_SIMULATOR_TIME_SCALE: "0.1" } });
      const flags = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(scene.folder, "cache")}`];
      const lines = page.map(({ text }) => text).filter((text) => text.startsWith("kubectl "));
      expect(lines.length).toBeGreaterThan(12);
      for (const line of lines) {
        const [, ...words] = shellWords(line);
        const validation = words[0] === "apply" ? ["--validate=false"] : [];
        await expect(
          promisify(execFile)(kubectl ?? "", [...words, ...validation, ...flags]),
          line,
        ).resolves.toBeDefined();
      }
      await scene.eventually("TalosCluster", "lab", (thing) => thing === undefined);
      expect((await scene.get("TalosEtcdBackup", "lab-before-upgrade"))?.status?.phase).toBe("Succeeded");
    },
  );
});
