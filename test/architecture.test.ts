// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const talosLayers = ["version", "image", "pki", "secrets", "config", "api"] as const;
const talosBase = [
  "talos/errors",
  "talos/check-endpoint",
  "talos/child-input",
  "talos/client-file",
  "talos/clock",
  "talos/config-defaults",
  "talos/disk-key-file",
  "talos/endpoint-at",
  "talos/file-error",
  "talos/given",
  "talos/atomic-file",
  "talos/living-process",
  "talos/meta-key",
  "talos/nearest-word",
  "talos/own-files",
  "talos/plain-text",
  "talos/process-folder",
  "talos/program-path",
  "talos/unified-diff",
  "talos/yaml",
];
const talos = (...layers: string[]) => [...talosBase, ...layers.map((layer) => `talos/${layer}`)];

/** Who may import whom: a file belongs to the longest matching prefix, and may import only what its row lists. */
const rules: Readonly<Record<string, readonly string[]>> = {
  "talos/errors": ["talos/plain-text"],
  "talos/plain-text": [],
  "talos/check-endpoint": ["talos/errors"],
  "talos/client-file": ["talos/errors"],
  "talos/child-input": [],
  "talos/clock": [],
  "talos/config-defaults": [],
  "talos/disk-key-file": [],
  "talos/endpoint-at": [],
  "talos/living-process": [],
  "talos/meta-key": [],
  "talos/given": [],
  "talos/file-error": ["talos/errors"],
  "talos/atomic-file": ["talos/errors", "talos/file-error"],
  "talos/nearest-word": [],
  "talos/own-files": [],
  "talos/process-folder": ["talos/living-process"],
  "talos/program-path": [],
  "talos/unified-diff": [],
  "talos/yaml": ["talos/errors", "talos/yaml"],
  ...Object.fromEntries(talosLayers.map((layer, i) => [`talos/${layer}`, talos(...talosLayers.slice(0, i + 1))])),
  model: ["model", ...talos("version", "image", "pki", "secrets", "config")],
  "model/adopt": ["model", "talos"],
  "model/topology": ["model", "talos/given"],
  engine: ["engine", "model", "talos"],
  "cloud-init": ["cloud-init", "model", ...talos("version", "config")],
  "provider/framework": ["provider/framework"],
  "provider/protocol": ["provider/protocol", "provider/framework"],
  "provider/types": [
    "provider/types",
    "provider/framework",
    "talos",
    "model",
    "engine",
    "cloud-init",
    "simulator/control",
  ],
  provider: ["provider", "talos", "model", "engine", "cloud-init", "simulator/control"],
  "simulator/control": ["simulator/control", ...talosBase],
  simulator: ["simulator", ...talos("api/gen", "pki", "secrets", "config", "version")],
  constructs: ["constructs", "package.json", "cloud-init", "model", ...talos("version", "image", "config")],
  review: ["review", "constructs", "talos/errors", "talos/yaml"],
  workspace: [
    "workspace",
    "review",
    "talos",
    "model",
    "engine",
    "cloud-init",
    "constructs",
    "provider/types",
    "simulator/control",
  ],
  "workspace/synthesize": ["workspace/synthesize", "constructs", "provider/package", "talos", "model"],
  watch: ["watch", "workspace", "review", "talos", "model", "engine"],
  operator: ["operator", "watch", "workspace", "review", "talos", "model", "engine"],
  "main.ts": ["workspace/synthesize"],
  "web/shared": ["web/shared"],
  "web/client": ["web/client", "web/shared"],
  "web/server": [
    "web/server",
    "web/shared",
    "talos",
    "model",
    "engine",
    "workspace",
    "watch",
    "cloud-init",
    "simulator/control",
    "constructs",
    "review",
  ],
  cli: [
    "cli",
    "talos",
    "model",
    "engine",
    "workspace",
    "watch",
    "operator",
    "cloud-init",
    "provider",
    "simulator/control",
    "constructs",
    "review",
    "web/server",
  ],
};

const within = (file: string, prefix: string) =>
  file === prefix || file === `${prefix}.ts` || file.startsWith(`${prefix}/`);

function rowOf(file: string): string | undefined {
  return Object.keys(rules)
    .filter((prefix) => within(file, prefix))
    .sort((a, b) => b.length - a.length)[0];
}

function importsOf(file: string, source: string): string[] {
  const statements = source.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm);
  return [...statements]
    .map((match) => match[1] ?? match[2] ?? "")
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => normalize(join(dirname(file), specifier)));
}

/** One line per import that its row does not allow. */
function violations(graph: ReadonlyMap<string, readonly string[]>): string[] {
  return [...graph].flatMap(([file, imports]) => {
    const row = rowOf(file);
    if (row === undefined) return [`${file}: its folder is not in the table`];
    return imports
      .filter((target) => !rules[row]?.some((allowed) => within(target, allowed)))
      .map((target) => `${file} imports ${target}, but ${row} may import only: ${rules[row]?.join(", ")}`);
  });
}

/** The files of one import cycle in order, or undefined. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const target of graph.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

function projectGraph(): Map<string, string[]> {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"])
    .toString()
    .split("\n")
    .filter((file) => file !== "" && existsSync(file) && !/^(test|scripts|examples)\/|^vitest\.config\.ts$/.test(file));
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(file, "utf8"))]));
}

/** Files that the provider's start can afford, where the index of their folder loads zod or the whole engine. */
const light: ReadonlySet<string> = new Set([
  "model/cluster-rules.ts",
  "model/cron.ts",
  "model/project-root.ts",
  "model/state-owner.ts",
]);

/** The daemon and its own client share their protocol; every other index stands for its folder. */
const insideOf = (front: string) => (front === "simulator/control" ? "simulator" : front);

describe("the architecture", () => {
  const graph = projectGraph();

  test("every import goes in an allowed direction", () => {
    expect(graph.size).toBeGreaterThan(20);
    expect(violations(graph)).toEqual([]);
  });

  test("no import cycle exists", () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  test("only the index of a folder is imported from outside", () => {
    const fronts = [
      "talos/yaml",
      ...talosLayers.map((layer) => `talos/${layer}`),
      "model",
      "model/adopt",
      "model/settings",
      "model/topology",
      "engine",
      "engine/addon",
      "engine/backup",
      "provider/framework",
      "provider/protocol",
      "provider/types",
      "simulator/control",
      "constructs",
      "workspace/synthesize",
      "cloud-init",
      "review",
      "watch",
      "operator",
      "operator/definitions",
    ];
    const past = [...graph].flatMap(([file, imports]) =>
      imports
        .filter((target) => fronts.some((front) => within(target, front) && !within(file, insideOf(front))))
        .filter((target) => !target.endsWith("/index.ts") && !target.startsWith("talos/api/gen/") && !light.has(target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(past).toEqual([]);
  });
});

/** What a workspace is made of: nobody above it puts these together for the engine once more. */
const workspaceParts = [
  "workspace/cluster-spec",
  "workspace/metal-machines",
  "workspace/owner",
  "workspace/patch-files",
  "workspace/terraform/recorded-spec",
];

test("command line, console and operator reach the engine through the workspace only", () => {
  const above = [...projectGraph()].filter(([file]) => /^(cli|web|watch)\//.test(file));
  const parts = above.flatMap(([file, imports]) =>
    imports
      .filter((target) => workspaceParts.some((part) => within(target, part)))
      .map((target) => `${file} imports ${target}`),
  );
  const own = above.flatMap(([file]) => (/\bdesiredCluster\b/.test(readFileSync(file, "utf8")) ? [file] : []));
  expect([parts, own]).toEqual([[], []]);
});

test("the provider knows a TalosError by its name: its bundles hold the class more than once", () => {
  const files = [...projectGraph().keys()].filter((file) => file.startsWith("provider/"));
  expect(files.filter((file) => /instanceof TalosError\b/.test(readFileSync(file, "utf8")))).toEqual([]);
});

describe("the rule itself", () => {
  const cases: readonly [string, string, boolean][] = [
    ["talos/config/generate.ts", "talos/secrets/index.ts", true],
    ["talos/secrets/generate.ts", "talos/config/index.ts", false],
    ["simulator/machine/machine.ts", "talos/api/gen/machine.ts", true],
    ["simulator/machine/machine.ts", "talos/api/client.ts", false],
    ["simulator/daemon.ts", "engine/index.ts", false],
    ["provider/framework/schema.ts", "provider/protocol/index.ts", false],
    ["provider/types/cluster.ts", "simulator/control/index.ts", true],
    ["provider/types/cluster.ts", "simulator/daemon.ts", false],
    ["constructs/stack.ts", "talos/secrets/index.ts", false],
    ["web/client/app.ts", "web/server/http.ts", false],
    ["cli/commands/up.ts", "engine/index.ts", true],
    ["somewhere/else.ts", "talos/version/index.ts", false],
  ];
  test.each(cases)("%s may import %s: %s", (file, target, allowed) => {
    expect(violations(new Map([[file, [target]]])).length === 0).toBe(allowed);
  });

  test("a cycle is found with its whole path", () => {
    const graph = new Map([
      ["a.ts", ["b.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["b.ts"]],
    ]);
    expect(findCycle(graph)).toEqual(["b.ts", "c.ts", "b.ts"]);
  });
});
