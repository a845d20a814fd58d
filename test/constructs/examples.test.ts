// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listEnvironments } from "../../model/index.ts";
import { repositoryRoot, withSynth } from "./project.ts";

const folder = join(repositoryRoot, "examples");
const projects = readdirSync(folder).filter((name) => existsSync(join(folder, name, "environments")));

const expected = [
  ...["aws-production", "aws-sandbox", "aws-staging", "cluster-addon", "cluster-container", "cluster-metal"],
  ...["controlplane-container", "controlplane-metal", "controlplane-with-cni", "etcd-backup", "etcd-backup-schedule"],
  ...["libvirt-default", "libvirt-ha", "talos-client", "terraform-test", "worker-container", "worker-metal"],
];

describe("the examples", () => {
  test("are all there, and their list names each", () => {
    expect(projects).toEqual(expected);
    const list = readFileSync(join(folder, "README.md"), "utf8");
    for (const name of projects) expect(list).toContain(`(${name}/README.md)`);
  });

  test.each(projects)("%s synthesizes every environment that it has", (name) => {
    const root = join(folder, name);
    const environments = listEnvironments(root);
    expect(environments).toContain(name);
    withSynth(root, undefined, (result, read) => {
      expect(result.failures).toEqual([]);
      for (const environment of environments) {
        const stack = JSON.parse(read(environment)) as { readonly resource: Readonly<Record<string, unknown>> };
        expect(Object.keys(stack.resource)).toContain("talosmith_member");
      }
    });
  });

  test.each(projects)("%s has a schema for editors, a picture and a page that leads to its file", (name) => {
    const root = join(folder, name);
    for (const environment of listEnvironments(root)) {
      const [line] = readFileSync(join(root, "environments", `${environment}.yaml`), "utf8").split("\n");
      expect(line).toBe("# yaml-language-server: $schema=../../../schemas/environment.schema.json");
    }
    const page = readFileSync(join(root, "README.md"), "utf8");
    expect(page).toContain(`![The environment ${name}](topology.svg)`);
    expect(existsSync(join(root, "topology.svg"))).toBe(true);
  });
});
