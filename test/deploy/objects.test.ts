// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { registerOperate } from "../../cli/commands/operate.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { definitions } from "../../watch/index.ts";
import { testContext } from "../support/command-context.ts";
import { findProgram } from "../support/programs.ts";
import { documentsOf, type Manifest, manifestFiles, plain } from "./manifests.ts";

const helm = process.env.TALOSMITH_HELM || findProgram("helm");
const kubectl = findProgram("kubectl");
const objects = documentsOf(...manifestFiles("deploy/kustomize/objects"));
const byName = (manifests: readonly Manifest[]) =>
  Object.fromEntries(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, plain(manifest)]));
const json = (file: string) => JSON.parse(readFileSync(file, "utf8")) as unknown;

describe("the operator for objects, as it lies in deploy/kustomize/objects", () => {
  test("has a Role of its namespace, without wildcards, and no right to list Secrets", () => {
    expect(objects.map(({ kind }) => kind)).not.toContain("ClusterRole");
    const rules = objects.find(({ kind }) => kind === "Role")?.rules ?? [];
    expect(JSON.stringify(rules)).not.toContain("*");
    const verbsOf = (resource: string) =>
      rules.flatMap((rule) =>
        (rule as unknown as { resources: string[] }).resources.includes(resource) ? rule.verbs : [],
      );
    expect(verbsOf("secrets")).toEqual(["get", "create", "update", "patch", "delete"]);
    expect(verbsOf("events")).toEqual(["create"]);
    expect(verbsOf("talosclusters")).toEqual(["get", "list", "watch", "patch"]);
    expect(rules.filter(({ resourceNames }) => resourceNames !== undefined)[0]?.verbs).toEqual(["get", "update"]);
  });

  test("runs without rights on the node, with flags that the command has", async () => {
    const [pod] = objects.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.spec]));
    const [container] = pod?.containers ?? [];
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(container?.securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } });
    expect(container?.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(["/data", "/tmp"]);
    const context = testContext();
    await runProgram(createProgram(context, [registerOperate]), ["operate", "--help"], context);
    const flags = container?.args.slice(1).map((word) => word.split("=")[0] ?? "") ?? [];
    expect(flags).toContain("--kubernetes");
    for (const flag of flags) expect(context.written.stdout).toContain(flag);
  });

  test.skipIf(kubectl === undefined)("is built by kubectl kustomize, with the definitions", () => {
    const text = execFileSync(kubectl ?? "", ["kustomize", "deploy/kustomize/objects"]).toString();
    const kinds = parseAllDocuments(text).map((document) => (document.toJS() as Manifest).kind);
    expect(kinds.filter((kind) => kind === "CustomResourceDefinition")).toHaveLength(6);
    expect(kinds).toContain("Deployment");
  });
});

describe("what watches the operator", () => {
  const known: readonly string[] = definitions.map(({ name }) => name);
  const metricsIn = (expression: string) =>
    [...expression.matchAll(/\b(?:talosmith|process)_[a-z_]+/g)].map(([name]) => name);

  test("has five alerts about metrics that there are", () => {
    const { spec } = parse(readFileSync("deploy/chart/files/alerts.yaml", "utf8")) as {
      spec: { groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[] };
    };
    const rules = spec.groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(5);
    for (const { expr, annotations } of rules) {
      expect(metricsIn(expr).length).toBeGreaterThan(0);
      expect(known).toEqual(expect.arrayContaining(metricsIn(expr)));
      expect(annotations.summary).not.toBe("");
    }
  });

  test("has a dashboard of metrics that there are", () => {
    const { panels } = json("deploy/chart/files/dashboard.json") as { panels: { targets: { expr: string }[] }[] };
    const used = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(used.length).toBeGreaterThan(10);
    expect(known).toEqual(expect.arrayContaining(used));
  });
});

test("the schema of the chart's values knows every value", () => {
  const schema = json("deploy/chart/values.schema.json") as { properties: Record<string, { properties?: object }> };
  const values = parse(readFileSync("deploy/chart/values.yaml", "utf8")) as Record<string, object>;
  expect(
    Object.keys(schema.properties)
      .filter((name) => name !== "global")
      .sort(),
  ).toEqual(Object.keys(values).sort());
  for (const [name, { properties }] of Object.entries(schema.properties))
    if (properties !== undefined)
      expect(Object.keys(properties).sort()).toEqual(Object.keys(values[name] ?? {}).sort());
});

describe.skipIf(helm === undefined)("the chart with objects, rendered by helm", () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-chart-objects-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const render = (...settings: string[]) => {
    const flags = ["--kube-version", "1.36.0", "--namespace", "talosmith"];
    const set = ["objects.enabled=true", ...settings].flatMap((setting) => ["--set", setting]);
    const options = { env: { PATH: process.env.PATH, HOME: folder }, stdio: ["ignore", "pipe", "pipe"] as const };
    const text = execFileSync(helm ?? "", ["template", "talosmith", "deploy/chart", ...flags, ...set], {
      ...options,
      stdio: "pipe",
    });
    return parseAllDocuments(text.toString()).flatMap((document) => {
      expect(document.errors).toEqual([]);
      const manifest = document.toJS() as Manifest | null;
      return manifest === null ? [] : [manifest];
    });
  };

  test("is what lies in deploy/kustomize/objects", () => {
    expect(byName(render())).toEqual(byName(objects));
  });

  test("takes rights in the whole cluster only where it is told to", () => {
    const kinds = render("objects.allNamespaces=true").map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["ClusterRole", "ClusterRoleBinding", "Role"]));
    expect(render().map(({ kind }) => kind)).not.toContain("ClusterRole");
  });

  test("has alerts and dashboard where they are wanted", () => {
    const kinds = render("prometheusRule.enabled=true", "dashboard.enabled=true").map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["PrometheusRule", "ConfigMap"]));
  });

  test("refuses values that it does not have", () => {
    expect(() => render("objects.allNamespace=true")).toThrow(/allNamespace/);
  });
});
