// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { registerUpgrade } from "../../cli/commands/lifecycle.ts";
import { registerOperate } from "../../cli/commands/operate.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { parseEnvironment } from "../../model/index.ts";
import { testContext } from "../support/command-context.ts";
import { findProgram } from "../support/programs.ts";
import { documentsOf, type Manifest, manifestFiles, plain } from "./manifests.ts";

const helm = process.env.TALOSMITH_HELM || findProgram("helm");
const kubectl = findProgram("kubectl");
const values = (text: string) => parse(text) as Record<string, unknown>;
const labEnvironment =
  "environments: { lab: { infrastructure: { kind: metal, machines: { cp-1: { address: 10.0.0.70, role: controlplane, fingerprint: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa= } } } } }\n";

/** Rules for whatever is deployed, wherever it comes from. */
function checkRules(manifests: readonly Manifest[]): void {
  for (const { kind, rules } of manifests.filter(({ kind }) => kind.endsWith("Role"))) {
    expect(kind).toBe("Role");
    for (const rule of rules ?? []) {
      expect(JSON.stringify(rule)).not.toContain("*");
      expect(rule.resourceNames?.length).toBeGreaterThan(0);
      for (const verb of rule.verbs) expect(["get", "update"]).toContain(verb);
    }
  }
  const pods = manifests.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.spec]));
  expect(pods.length).toBeGreaterThan(0);
  for (const { securityContext, containers, volumes } of pods) {
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(volumes.filter((volume) => "hostPath" in volume)).toEqual([]);
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources).toMatchObject({ limits: { memory: "512Mi" }, requests: { cpu: "50m" } });
      // All that is written to is a volume.
      const mounted = container.volumeMounts.filter(({ readOnly }) => !readOnly).map(({ mountPath }) => mountPath);
      expect(mounted).toEqual(["/project/generated", "/project/state", "/tmp"]);
      for (const { name } of container.volumeMounts) expect(volumes.map((volume) => volume.name)).toContain(name);
    }
  }
}

const byName = (manifests: readonly Manifest[]) =>
  Object.fromEntries(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, plain(manifest)]));

const base = documentsOf(...manifestFiles("deploy/kustomize/base"));
const monitor = documentsOf("deploy/kustomize/service-monitor/service-monitor.yaml");

describe("the manifests as they lie there", () => {
  test("every YAML file of deploy/ can be read, and the base lists all of its own", () => {
    const files = readdirSync("deploy", { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".yaml") && !file.includes("templates"))
      .map((file) => join("deploy", file));
    expect(files.length).toBeGreaterThan(8);
    for (const file of files)
      for (const document of parseAllDocuments(readFileSync(file, "utf8"))) expect(document.errors).toEqual([]);
    const { resources } = values(readFileSync("deploy/kustomize/base/kustomization.yaml", "utf8"));
    expect((resources as string[]).map((file) => join("deploy/kustomize/base", file)).sort()).toEqual(
      [...manifestFiles("deploy/kustomize/base")].sort(),
    );
  });

  test("run without rights, and may touch only what is theirs", () => {
    checkRules(base);
    checkRules(documentsOf("deploy/jobs/upgrade-k8s.yaml"));
  });

  test("ask for rights on exactly the Lease and Secrets that are there", () => {
    const named = (kind: string) => base.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    const rules = base.find(({ kind }) => kind === "Role")?.rules ?? [];
    const [leases, secrets] = rules.map(({ resourceNames }) => resourceNames);
    expect(leases).toEqual(named("Lease"));
    expect(secrets).toEqual(named("Secret"));
  });

  test("the environment in them is one", () => {
    const data = base.find(({ kind }) => kind === "ConfigMap")?.data ?? {};
    const read = (path: string) => data[path.replace("environments/", "")];
    expect(parseEnvironment("lab", read).kind).toBe("metal");
  });

  test("agree with the chart's values and with the package", () => {
    const chart = values(readFileSync("deploy/chart/values.yaml", "utf8"));
    const { version } = values(readFileSync("package.json", "utf8"));
    const deployment = base.find(({ kind }) => kind === "Deployment");
    const pod = deployment?.spec?.template?.spec;
    const container = pod?.containers[0];
    expect(deployment?.spec?.replicas).toBe(chart.replicas);
    expect(pod?.securityContext).toEqual(chart.podSecurityContext);
    expect(container?.securityContext).toEqual(chart.securityContext);
    expect(container?.resources).toEqual(chart.resources);
    expect(container?.image).toBe(`talosmith:${version}`);
    expect(documentsOf("deploy/jobs/upgrade-k8s.yaml")[0]?.spec?.template?.spec.containers[0]?.image).toBe(
      container?.image,
    );
    const meta = values(readFileSync("deploy/chart/Chart.yaml", "utf8"));
    expect([meta.version, meta.appVersion]).toEqual([version, version]);
  });

  test("give the command only flags that it has", async () => {
    const args = [...base, ...documentsOf("deploy/jobs/upgrade-k8s.yaml")].flatMap(({ spec }) =>
      spec?.template === undefined ? [] : spec.template.spec.containers.map((container) => container.args),
    );
    expect(args.length).toBe(2);
    for (const words of args) {
      const context = testContext();
      const program = createProgram(context, [registerOperate, registerUpgrade]);
      await runProgram(program, [words[0] ?? "", "--help"], context);
      const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0] ?? "");
      for (const flag of flags) expect(context.written.stdout).toContain(flag);
    }
  });
});

describe("the image", () => {
  const dockerfile = readFileSync("deploy/Dockerfile", "utf8");
  test("runs as a user without rights, with pinned bases, helm, and what the package carries", () => {
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm)) expect(image).toMatch(/:\d/);
    expect(dockerfile).toContain("/usr/local/bin/helm");
    for (const folder of ["bin", "dist", "schemas"]) expect(dockerfile).toContain(`/src/${folder} ./${folder}`);
    expect(dockerfile.indexOf("USER")).toBeLessThan(dockerfile.indexOf("ENTRYPOINT"));
  });
});

describe.skipIf(helm === undefined)("the chart, rendered by helm", () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-chart-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (command: readonly string[], more = "") => {
    const file = join(folder, "values.yaml");
    writeFileSync(file, `${labEnvironment}${more}`);
    const flags = ["--values", file, "--kube-version", "1.36.0", "--namespace", "talosmith"];
    return execFileSync(helm ?? "", [...command, ...flags], {
      env: { PATH: process.env.PATH, HOME: folder },
    }).toString();
  };
  const render = (more = "") =>
    parseAllDocuments(run(["template", "talosmith", "deploy/chart"], more)).flatMap((document) => {
      expect(document.errors).toEqual([]);
      const manifest = document.toJS() as Manifest | null;
      return manifest === null ? [] : [manifest];
    });

  test("passes helm lint", () => {
    expect(run(["lint", "--strict", "deploy/chart"])).toContain("0 chart(s) failed");
  });

  test("is what the kustomize base is", () => {
    const rendered = render("serviceMonitor: { enabled: true }\n");
    checkRules(rendered.filter(({ kind }) => kind !== "ServiceMonitor"));
    expect(byName(rendered)).toEqual(byName([...base, ...monitor]));
  });

  test("follows its values", () => {
    const manifests = render(
      [
        "replicas: 3",
        "image: { repository: registry.example.com/talosmith, tag: v9 }",
        "repair: true",
        "env: [{ name: AWS_REGION, value: eu-central-1 }]",
        "envFrom: [{ secretRef: { name: bucket } }]",
        "networkPolicy: { enabled: false }",
        "rbac: { create: false }",
        "serviceAccount: { create: false, name: other }",
        "tolerations: [{ operator: Exists }]",
      ].join("\n"),
    );
    const kinds = manifests.map(({ kind }) => kind);
    for (const kind of ["NetworkPolicy", "Role", "RoleBinding", "ServiceAccount"]) expect(kinds).not.toContain(kind);
    const deployment = manifests.find(({ kind }) => kind === "Deployment");
    expect(deployment?.spec).toMatchObject({
      replicas: 3,
      template: { spec: { serviceAccountName: "other", tolerations: [{ operator: "Exists" }] } },
    });
    const [container] = deployment?.spec?.template?.spec.containers ?? [];
    expect(container).toMatchObject({
      image: "registry.example.com/talosmith:v9",
      envFrom: [{ secretRef: { name: "bucket" } }],
    });
    expect(container?.args).toContain("--repair");
    expect(container?.env.map(({ name }) => name)).toContain("AWS_REGION");
  });

  test("takes several environments, as text too, with a Secret for each and none for the base", () => {
    const more =
      'environments:\n  base: { cluster: { cni: none } }\n  lab: "infrastructure: { kind: metal }\\n"\n  two: {}\n';
    const file = join(folder, "several.yaml");
    writeFileSync(file, more);
    const command = ["template", "talosmith", "deploy/chart", "--kube-version", "1.36.0", "--values", file];
    const text = execFileSync(helm ?? "", command, { env: { PATH: process.env.PATH, HOME: folder } }).toString();
    const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    expect(Object.keys(manifests.find(({ kind }) => kind === "ConfigMap")?.data ?? {})).toEqual([
      "base.yaml",
      "lab.yaml",
      "two.yaml",
    ]);
    const secrets = manifests.filter(({ kind }) => kind === "Secret").map(({ metadata }) => metadata.name);
    expect(secrets).toEqual(["talosmith-lab", "talosmith-two"]);
    expect(manifests.find(({ kind }) => kind === "Role")?.rules?.[1]?.resourceNames).toEqual(secrets);
  });
});

describe.skipIf(kubectl === undefined)("the base, built by kubectl kustomize", () => {
  test("is what lies there, in its namespace", () => {
    const text = execFileSync(kubectl ?? "", ["kustomize", "deploy/kustomize/base"]).toString();
    const built = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    expect(built.every(({ metadata }) => metadata.namespace === "talosmith")).toBe(true);
    expect(built.find(({ kind }) => kind === "RoleBinding")?.subjects?.[0]?.namespace).toBe("talosmith");
    expect(byName(built)).toEqual(byName(base));
  });
});
