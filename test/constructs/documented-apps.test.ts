// SPDX-License-Identifier: Apache-2.0
// The apps of the documents and of examples/, run as their readers would run them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { snippetOf } from "../pages/snippets.ts";
import { instancesOf, machinesOf, repositoryRoot, type StackJson } from "./project.ts";
import { faultsOf } from "./stack-schemas.ts";

const examples = {
  "aws-construct-database": "lab",
  "aws-construct-existing-vpc": "lab",
  "aws-construct-traffic": "lab",
  "aws-construct-two-regions": "europe",
} as const;
const apps = {
  "one-machine": snippetOf("docs/constructs.md", "ts"),
  rack: snippetOf("docs/constructs.md", "ts", 1),
  moves: snippetOf("docs/upgrading-talosmith.md", "ts"),
};
/** With its paths, the names that a project imports lead to the sources. The root's has none: tsx would take them in examples, too. */
const tsconfig = join(repositoryRoot, "test/constructs/apps.tsconfig.json");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-documented-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  symlinkSync(join(repositoryRoot, "node_modules"), join(folder, "node_modules"));
  for (const [name, code] of Object.entries(apps)) {
    mkdirSync(join(folder, name, "environments"), { recursive: true });
    writeFileSync(join(folder, name, "main.ts"), code);
  }
  writeFileSync(
    join(folder, "moves/environments/lab.yaml"),
    "infrastructure: { kind: simulated }\ncontrolPlane: {}\nbackend: { kind: http, address: https://states.example.com/lab }\n",
  );
  // One process for all: its start is most of the time.
  const run = (name: string, main: string) => `process.chdir("${join(folder, name)}");\nawait import("${main}");\n`;
  for (const name of Object.keys(examples)) mkdirSync(join(folder, name));
  const all = [
    ...Object.keys(apps).map((name) => run(name, `./${name}/main.ts`)),
    ...Object.keys(examples).map((name) => run(name, join(repositoryRoot, "examples", name, "main.ts"))),
  ];
  writeFileSync(join(folder, "all.ts"), all.join(""));
  const env = { ...process.env, TSX_TSCONFIG_PATH: tsconfig };
  execFileSync(process.execPath, ["--import", import.meta.resolve("tsx"), "all.ts"], {
    cwd: folder,
    env,
    stdio: "pipe",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stackOf = (app: keyof typeof apps | keyof typeof examples, name: string) =>
  JSON.parse(readFileSync(join(folder, app, "cdktf.out/stacks", name, "cdk.tf.json"), "utf8")) as StackJson;

test("one machine of a pool has another instance type and a larger disk, and the others have not", () => {
  const all = instancesOf(stackOf("one-machine", "lab"));
  const workers = [1, 2, 3, 4, 5].map((index) => {
    const { instance_type } = all.get(`aws_instance.cluster_worker["w-${index}"]`) ?? {};
    return [instance_type, all.get(`aws_ebs_volume.cluster_worker_data_1["w-${index}"]`)?.size];
  });
  const usual = ["t3.large", 100];
  expect(workers).toEqual([usual, usual, ["m7i.2xlarge", 500], usual, usual]);
});

test("an infrastructure of one's own gives its machines addresses", () => {
  const machines = machinesOf(stackOf("rack", "rack"), "talosmith_cluster.cluster_cluster");
  expect(Object.entries(machines).map(([name, { address }]) => [name, address])).toEqual([
    ["rack-cp-1", "10.0.1.1"],
    ["rack-general-1", "10.0.2.1"],
    ["rack-general-2", "10.0.2.2"],
  ]);
});

test("a state that is elsewhere gets moved blocks when main.ts asks for them", () => {
  const { moved } = stackOf("moves", "lab") as unknown as { readonly moved: readonly object[] };
  expect(moved).toContainEqual({
    from: "talosmith_member.cp_1",
    to: 'talosmith_member.control_plane["cp-1"]',
  });
});

test.each(Object.entries(examples))(
  "%s takes what the providers take, with one provider block for each region",
  (app, name) => {
    const stack = stackOf(app as keyof typeof examples, name);
    expect(faultsOf(stack)).toEqual([]);
    const regions = stack.provider.aws?.map(({ alias, region }) => [alias, region]);
    expect(regions).toEqual([
      [undefined, "eu-central-1"],
      ...(app === "aws-construct-two-regions" ? [["ireland", "eu-west-1"]] : []),
    ]);
  },
);

test("the examples compile", () => {
  const tsc = join(repositoryRoot, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", tsconfig], { stdio: "inherit" });
});

test("examples/README.md names each app, and its page leads to it", () => {
  const list = readFileSync(join(repositoryRoot, "examples/README.md"), "utf8");
  for (const name of Object.keys(examples)) {
    expect(list).toContain(`(${name}/README.md)`);
    expect(readFileSync(join(repositoryRoot, "examples", name, "README.md"), "utf8")).toContain("(main.ts)");
  }
});
