// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type JsonObject, printStack, synthesize } from "../../constructs/index.ts";
import { everything } from "../support/everything.ts";
import { layStandIns } from "../support/stand-in-providers.ts";
import { findTools } from "../support/terraform.ts";
import { repositoryRoot } from "./project.ts";

const terraform = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "terraform"))
  .find((path) => existsSync(path));
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-offline-"));
  const mirror = await layStandIns(folder);
  writeFileSync(
    join(folder, "terraform.rc"),
    `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A line of what `terraform plan -json` prints. */
interface PlanMessage {
  readonly type: string;
  readonly change?: { readonly action: string; readonly resource: { readonly addr: string } };
}

/** A line of what `terraform apply -json` prints. */
interface ApplyMessage {
  readonly type: string;
  readonly hook?: { readonly action: string; readonly resource: { readonly addr: string } };
}

/** A project whose stack is planned and applied for real, against providers that only remember. */
class Project {
  readonly root = mkdtempSync(join(folder, "project-"));
  readonly stack = join(this.root, "cdktf.out/stacks/sample");
  readonly #tool: string;

  constructor(tool = terraform ?? "terraform") {
    this.#tool = tool;
  }

  synth(yaml: string): void {
    mkdirSync(join(this.root, "environments"), { recursive: true });
    writeFileSync(join(this.root, "environments/sample.yaml"), yaml);
    const { failures } = synthesize({
      projectRoot: this.root,
      outdir: join(this.root, "cdktf.out"),
      environments: ["sample"],
    });
    for (const { error } of failures) throw error;
  }

  run(directory: string, ...args: string[]): string {
    const env = {
      ...process.env,
      TF_CLI_CONFIG_FILE: join(folder, "terraform.rc"),
      TF_IN_AUTOMATION: "1",
      CHECKPOINT_DISABLE: "1",
      STAND_IN_STACK: join(this.stack, "cdk.tf.json"),
    };
    const { status, stdout, stderr } = spawnSync(this.#tool, args, { cwd: directory, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}:\n${stderr}\n${stdout}`);
    return stdout;
  }

  apply(): void {
    if (!existsSync(join(this.stack, ".terraform"))) this.run(this.stack, "init", "-no-color", "-input=false");
    this.run(this.stack, "apply", "-no-color", "-input=false", "-auto-approve");
  }

  /** What `apply` or `destroy` deletes, in the order in which each deletion ends. */
  deletions(command: "apply" | "destroy"): string[] {
    const lines = this.run(this.stack, command, "-json", "-input=false", "-auto-approve").trim().split("\n");
    return lines
      .map((line) => JSON.parse(line) as ApplyMessage)
      .flatMap(({ type, hook }) => (type === "apply_complete" && hook?.action === "delete" ? hook.resource.addr : []));
  }

  /** What a plan of the same stack in HCL would do, once the HCL is found to be clean and valid. */
  planHcl(): string[] {
    const directory = join(this.root, "terraform/sample");
    mkdirSync(directory, { recursive: true });
    const json = readFileSync(join(this.stack, "cdk.tf.json"), "utf8");
    const options = { environment: "sample", source: "environments/sample.yaml" };
    for (const [name, text] of printStack(JSON.parse(json) as JsonObject, options))
      writeFileSync(join(directory, name), text);
    this.run(directory, "fmt", "-check");
    this.run(directory, "init", "-no-color", "-input=false");
    this.run(directory, "validate", "-no-color");
    return this.plan([], directory);
  }

  /** All that there is of one machine: what has its key. */
  partsOf(key: string): string[] {
    const all = this.run(this.stack, "state", "list").trim().split("\n");
    return all.filter((address) => address.endsWith(`["${key}"]`));
  }

  /** What a plan would do: `action address`, sorted. */
  plan(only: readonly string[] = [], directory = this.stack): string[] {
    const targets = only.map((target) => `-target=${target}`);
    const lines = this.run(directory, "plan", "-json", "-input=false", ...targets)
      .trim()
      .split("\n");
    const messages = lines.map((line) => JSON.parse(line) as PlanMessage);
    const changes = messages.flatMap(({ type, change }) => (type === "planned_change" && change ? [change] : []));
    if (!messages.some(({ type }) => type === "change_summary")) throw new Error(`the plan has no end: ${lines}`);
    return changes
      .filter(({ action }) => action !== "read")
      .map(({ action, resource }) => `${action} ${resource.addr}`)
      .sort();
  }
}

const libvirt = (
  options: { memory?: string; disk?: string; nameserver?: string; talos?: string; workers?: number } = {},
) => `
cluster: { name: talos, talosVersion: ${options.talos ?? "v1.13.8"} }
infrastructure:
  kind: libvirt
  trustOnFirstUse: true
  network: { vip: 10.0.0.100, nameservers: [${options.nameserver ?? "10.0.0.1"}] }
controlPlane: { count: 3, memory: ${options.memory ?? "4GiB"}, disk: ${options.disk ?? "20GiB"} }
workers: [{ count: ${options.workers ?? 1} }]
`;
// The largest stands for all, unless all tests are asked for.
const awsEnvironments = process.env.TALOSMITH_TEST_ALL === "1" ? ["sandbox", "staging", "production"] : ["production"];

describe.runIf(terraform !== undefined)(
  "a libvirt stack in the real terraform, with providers that only remember",
  () => {
    let project: Project;
    beforeAll(() => {
      project = new Project();
      project.synth(libvirt());
      project.apply();
    }, 180_000);

    it("is applied, and nothing is left to do", { timeout: 180_000 }, () => {
      project.synth(libvirt());
      expect(project.plan()).toEqual([]);
    });

    it("refuses to stop or replace several control planes at once", { timeout: 180_000 }, () => {
      for (const change of [{ memory: "8GiB" }, { disk: "40GiB" }]) {
        project.synth(libvirt(change));
        expect(() => project.plan()).toThrow(/Several control planes at once/);
      }
    });

    it("replaces one domain, and nothing else, when it gets more memory", { timeout: 180_000 }, () => {
      project.synth(libvirt({ memory: "8GiB" }));
      expect(project.plan(project.partsOf("cp-1"))).toEqual([
        'replace libvirt_domain.control_plane["cp-1"]',
        'replace terraform_data.control_plane_hardware["cp-1"]',
      ]);
    });

    it("replaces disk, domain and membership when a disk gets another size", { timeout: 180_000 }, () => {
      project.synth(libvirt({ disk: "40GiB" }));
      expect(project.plan(project.partsOf("cp-2"))).toEqual([
        'replace libvirt_domain.control_plane["cp-2"]',
        'replace libvirt_volume.control_plane_disk["cp-2"]',
        'replace talosmith_member.control_plane["cp-2"]',
        'replace terraform_data.control_plane_disk_size["cp-2"]',
        'replace terraform_data.control_plane_first_image["cp-2"]',
        'replace terraform_data.control_plane_hardware["cp-2"]',
      ]);
    });

    it("replaces ISO and domain, not the disk, when the network settings change", { timeout: 180_000 }, () => {
      project.synth(libvirt({ nameserver: "9.9.9.9" }));
      expect(project.plan(project.partsOf("w-1"))).toEqual([
        'replace libvirt_domain.worker["w-1"]',
        'replace libvirt_volume.worker_iso["w-1"]',
        'replace terraform_data.worker_hardware["w-1"]',
        'update talosmith_cloud_init.worker_seed["w-1"]',
      ]);
    });

    it("starts new machines from the image of a newer Talos, and keeps the old one for those that began with it", {
      timeout: 180_000,
    }, () => {
      project.synth(libvirt({ talos: "v1.13.9", workers: 2 }));
      const images = project.plan().filter((line) => line.includes("image"));
      expect(images).toEqual([
        expect.stringMatching(/^create libvirt_volume\.image\["v1\.13\.9-\w{8}\.qcow2"\]$/),
        'create terraform_data.worker_first_image["w-2"]',
      ]);
    });

    it("replaces nothing for a newer Talos: the cluster upgrades its machines", { timeout: 180_000 }, () => {
      project.synth(libvirt({ talos: "v1.13.9" }));
      expect(project.plan()).toEqual(["update talosmith_cluster.cluster"]);
    });

    it("adds and removes a worker without touching the others", { timeout: 180_000 }, () => {
      project.synth(libvirt({ workers: 2 }));
      expect(project.plan().filter((line) => !line.startsWith("create ") || !line.includes('["w-2"]'))).toEqual([
        "update talosmith_cluster.cluster",
      ]);
    });

    it("has one state for JSON and HCL", { timeout: 180_000 }, () => {
      project.synth(libvirt());
      expect(project.planHcl()).toEqual([]);
    });

    it("lets a worker leave before its machine goes, and all machines before any does", { timeout: 180_000 }, () => {
      project.synth(libvirt({ workers: 0 }));
      expect(project.deletions("apply").filter((address) => /member|domain|disk\[/.test(address))).toEqual([
        'talosmith_member.worker["w-1"]',
        'libvirt_domain.worker["w-1"]',
        'libvirt_volume.worker_disk["w-1"]',
      ]);
      const all = project.deletions("destroy");
      const last = (start: string) => all.findLastIndex((address) => address.startsWith(start));
      const first = (start: string) => all.findIndex((address) => address.startsWith(start));
      expect(last("talosmith_cluster.")).toBeLessThan(first("talosmith_member."));
      expect(last("talosmith_member.control_plane")).toBeLessThan(first("libvirt_domain.control_plane"));
      expect(last("libvirt_domain.control_plane")).toBeLessThan(first("libvirt_volume.control_plane_disk"));
    });
  },
);

describe.runIf(terraform !== undefined)("an AWS stack in the real terraform, with providers that only remember", () => {
  it.each(awsEnvironments)(
    "%s is planned and applied, and nothing is left to do, in JSON or in HCL",
    { timeout: 300_000 },
    (name) => {
      const project = new Project();
      const base = readFileSync(join(repositoryRoot, "environments/base.yaml"), "utf8");
      mkdirSync(join(project.root, "environments"), { recursive: true });
      writeFileSync(join(project.root, "environments/base.yaml"), base);
      project.synth(readFileSync(join(repositoryRoot, `environments/${name}.yaml`), "utf8"));
      project.apply();
      expect(project.plan()).toEqual([]);
      expect(project.planHcl()).toEqual([]);
    },
  );
});

const formerFolder = join(repositoryRoot, "test/golden/former");
const formerKinds = readdirSync(formerFolder).flatMap((file) =>
  file.endsWith(".yaml") ? file.replace(".yaml", "") : [],
);
// The one with the most blocks stands for all, unless all tests are asked for.
const formerTried = everything ? formerKinds : ["libvirt"];

describe.runIf(terraform !== undefined)("a state of 0.1.0, in which each machine had blocks of its own", () => {
  it.each(formerTried)(
    "of %s is carried over: nothing is replaced, nothing is left to do",
    { timeout: 300_000 },
    (kind) => {
      const project = new Project();
      const stack = () => JSON.parse(readFileSync(join(project.stack, "cdk.tf.json"), "utf8")) as JsonObject;
      mkdirSync(project.stack, { recursive: true });
      writeFileSync(join(project.stack, "cdk.tf.json"), readFileSync(join(formerFolder, `${kind}.tf.json`)));
      project.apply();
      const before = project.run(project.stack, "state", "list").trim().split("\n");
      project.synth(readFileSync(join(formerFolder, `${kind}.yaml`), "utf8"));
      const changes = project.plan().filter((line) => !line.startsWith("move "));
      // Since then, clusters have a config contract, talosconfigs name one node, and members know which machines read
      // their config from user-data.
      const members = ["aws-nlb", "libvirt-user-data"].includes(kind) ? "|member" : "";
      const explained = new RegExp(`^update talosmith_(cluster|client_files${members})\\.`);
      expect(changes.filter((line) => !explained.test(line))).toEqual([]);
      project.apply();
      const after = project.run(project.stack, "state", "list").trim().split("\n");
      expect(after.length).toBe(before.length);
      // Then nothing has to be moved any more, and the stack does not say so for ever.
      expect(stack().moved).not.toBe(undefined);
      project.synth(readFileSync(join(formerFolder, `${kind}.yaml`), "utf8"));
      expect(stack().moved).toBe(undefined);
      expect(project.plan()).toEqual([]);
    },
  );
});

const containers = (engine: string, { talos = "v1.13.8", workers = 2 } = {}) => `
cluster: { name: tenant, talosVersion: ${talos} }
infrastructure: { kind: container, engine: ${engine}, trustOnFirstUse: true }
controlPlane: { count: 1 }
workers: [{ count: ${workers}, limits: { memory: 2GiB } }]
`;

describe.runIf(everything).each(findTools())(
  "a container stack in the real $name, with providers that only remember",
  (tool) => {
    const apply = (engine: string) => {
      const project = new Project(tool.path);
      project.synth(containers(engine));
      project.apply();
      expect(project.plan()).toEqual([]);
      return project;
    };
    /** A newer Talos and a worker less: only that worker's things go, and no other container is touched. */
    const changed = (project: Project, engine: string) => {
      project.synth(containers(engine, { talos: "v1.13.9", workers: 1 }));
      return project.plan();
    };
    it("of Docker is applied, keeps its containers for a newer Talos, and gives up one worker", {
      timeout: 300_000,
    }, () => {
      expect(changed(apply("docker"), "docker")).toEqual([
        'delete docker_container.worker["w-2"]',
        'delete docker_volume.worker_ephemeral["w-2"]',
        'delete docker_volume.worker_state["w-2"]',
        'delete talosmith_member.worker["w-2"]',
        "update talosmith_cluster.cluster",
      ]);
    });

    it("of pods does the same, with one state for JSON and HCL", { timeout: 300_000 }, () => {
      const project = apply("kubernetes");
      expect(changed(project, "kubernetes")).toEqual([
        'delete kubernetes_service_v1.worker_service["w-2"]',
        'delete kubernetes_stateful_set_v1.worker["w-2"]',
        'delete talosmith_member.worker["w-2"]',
        "update talosmith_cluster.cluster",
      ]);
      project.synth(containers("kubernetes"));
      const directory = join(project.root, "terraform/sample");
      mkdirSync(directory, { recursive: true });
      const json = JSON.parse(readFileSync(join(project.stack, "cdk.tf.json"), "utf8")) as JsonObject;
      for (const [name, text] of printStack(json, { environment: "sample", source: "environments/sample.yaml" }))
        writeFileSync(join(directory, name), text);
      project.run(directory, "fmt", "-check");
      project.run(directory, "init", "-no-color", "-input=false");
      expect(project.plan([], directory)).toEqual([]);
    });
  },
);
