// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
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
  readonly #programs = join(this.root, "programs");

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
      // Without virsh, unless a test lays one there.
      PATH: [this.#programs, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    };
    const { status, stdout, stderr } = spawnSync(this.#tool, args, { cwd: directory, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}:\n${stderr}\n${stdout}`);
    return stdout;
  }

  apply(only: readonly string[] = []): void {
    const targets = only.map((target) => `-target=${target}`);
    if (!existsSync(join(this.stack, ".terraform"))) this.run(this.stack, "init", "-no-color", "-input=false");
    this.run(this.stack, "apply", "-no-color", "-input=false", "-auto-approve", ...targets);
  }

  /** A program that Terraform finds; it writes down its arguments and ends with `code`. Returns what was written so far. */
  lay(program: string, code = 0): () => string {
    const log = join(this.root, `${program}.log`);
    mkdirSync(this.#programs, { recursive: true });
    const text = `#!/bin/sh\necho "$@" >> "${log}"\nexit ${code}\n`;
    writeFileSync(join(this.#programs, program), text, { mode: 0o755 });
    return () => (existsSync(log) ? readFileSync(log, "utf8") : "");
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
  plan(only: readonly string[] = [], directory = this.stack, replaced: readonly string[] = []): string[] {
    const targets = [...only.map((target) => `-target=${target}`), ...replaced.map((one) => `-replace=${one}`)];
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
  options: {
    memory?: string;
    disk?: string;
    nameserver?: string;
    talos?: string;
    workers?: number;
    workerMemory?: string;
    planes?: number;
    architecture?: string;
  } = {},
) => `
cluster: { name: talos, talosVersion: ${options.talos ?? "v1.13.8"} }
infrastructure:
  kind: libvirt
  trustOnFirstUse: true
  architecture: ${options.architecture ?? "amd64"}
  network: { vip: 10.0.0.100, nameservers: [${options.nameserver ?? "10.0.0.1"}] }
controlPlane: { count: ${options.planes ?? 3}, memory: ${options.memory ?? "4GiB"}, disk: ${options.disk ?? "20GiB"} }
workers: [{ count: ${options.workers ?? 1}, memory: ${options.workerMemory ?? "4GiB"} }]
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
    });

    it("is applied, and nothing is left to do", () => {
      project.synth(libvirt());
      expect(project.plan()).toEqual([]);
    });

    it("refuses to stop or replace several control planes at once", () => {
      for (const change of [{ memory: "8GiB" }, { disk: "40GiB" }]) {
        project.synth(libvirt(change));
        expect(() => project.plan()).toThrow(/Several control planes at once/);
      }
    });

    it("replaces one domain, and nothing else, when it gets more memory", () => {
      project.synth(libvirt({ memory: "8GiB" }));
      expect(project.plan(project.partsOf("cp-1"))).toEqual([
        'replace libvirt_domain.control_plane["cp-1"]',
        'replace terraform_data.control_plane_hardware["cp-1"]',
      ]);
    });

    it("refuses to stop more workers at once than rollout allows", () => {
      const several = new Project();
      several.synth(libvirt({ workers: 3 }));
      several.apply();
      several.synth(libvirt({ workers: 3, workerMemory: "8GiB" }));
      expect(() => several.plan()).toThrow(/Too many workers at once/);
      // As the message says, and as talosmith deploy does.
      several.apply(several.partsOf("w-1"));
      several.apply(several.partsOf("w-2"));
      expect(several.plan()).toEqual([
        'replace libvirt_domain.worker["w-3"]',
        'replace terraform_data.worker_hardware["w-3"]',
        "update talosmith_cluster.cluster",
      ]);
    });

    it("enlarges the disk of the only control plane while it is off, and keeps disk and membership", {
      timeout: 180_000,
    }, () => {
      const alone = new Project();
      alone.synth(libvirt({ planes: 1, workers: 0 }));
      alone.apply();
      alone.synth(libvirt({ planes: 1, workers: 0, disk: "40GiB" }));
      expect(alone.plan()).toEqual([
        'replace libvirt_domain.control_plane["cp-1"]',
        'replace terraform_data.control_plane_disk_size["cp-1"]',
        'replace terraform_data.control_plane_hardware["cp-1"]',
        "update talosmith_cluster.cluster",
      ]);
      const virsh = alone.lay("virsh", 1);
      // The domain is gone by then, and comes back when the disk was enlarged.
      expect(() => alone.apply()).toThrow(/local-exec provisioner error/);
      expect(alone.plan()).toContain('create libvirt_domain.control_plane["cp-1"]');
      alone.lay("virsh");
      alone.apply();
      expect(alone.plan()).toEqual([]);
      const order = `-c qemu:///system vol-resize --pool default talos-cp-1.qcow2 ${40 * 2 ** 30}\n`;
      expect(virsh()).toBe(order.repeat(2));
      alone.synth(libvirt({ planes: 1, workers: 0 }));
      expect(() => alone.plan()).toThrow(/Disks only grow/);
    });

    it.skipIf(!everything)("replaces disks for another processor", () => {
      project.synth(libvirt({ architecture: "arm64" }));
      expect(project.plan(project.partsOf("w-1"))).toContain('replace libvirt_volume.worker_disk["w-1"]');
    });

    it.skipIf(!everything)(
      "gives machines from before there was a console one when they are replaced",
      { timeout: 180_000 },
      () => {
        const older = new Project();
        const withoutConsole = () => {
          const file = join(older.stack, "cdk.tf.json");
          const stack = JSON.parse(readFileSync(file, "utf8"), (key, value) => (key === "serials" ? undefined : value));
          writeFileSync(file, JSON.stringify(stack));
        };
        older.synth(libvirt());
        withoutConsole();
        older.apply();
        older.synth(libvirt());
        expect(older.plan()).toEqual([]);
      },
    );

    it("replaces ISO and domain, not the disk, when the network settings change", () => {
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

    it("replaces nothing for a newer Talos: the cluster upgrades its machines", () => {
      project.synth(libvirt({ talos: "v1.13.9" }));
      expect(project.plan()).toEqual(["update talosmith_cluster.cluster"]);
    });

    it("adds and removes a worker without touching the others", () => {
      project.synth(libvirt({ workers: 2 }));
      expect(project.plan().filter((line) => !line.startsWith("create ") || !line.includes('["w-2"]'))).toEqual([
        "update talosmith_cluster.cluster",
      ]);
    });

    it("has one state for JSON and HCL", () => {
      project.synth(libvirt());
      expect(project.planHcl()).toEqual([]);
    });

    it("lets a worker leave before its machine goes, and all machines before any does", () => {
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

describe.runIf(terraform !== undefined && everything)("zones on AWS that come and go", () => {
  const inZones = (...letters: string[]) => `
cluster: { name: talos, talosVersion: v1.13.8 }
infrastructure: { kind: aws, region: eu-west-1, zones: [${letters.map((letter) => `eu-west-1${letter}`)}], adminCidrs: [203.0.113.0/24] }
controlPlane: { count: 3 }
workers: [{ count: 2 }]
`;
  const machines = (changes: readonly string[]) => changes.filter((line) => /aws_instance|talosmith_/.test(line));

  it("move no machine but those whose zone goes, which Terraform has to be asked for", { timeout: 300_000 }, () => {
    const project = new Project();
    project.synth(inZones("a", "b"));
    project.apply();
    project.synth(inZones("a", "b", "c"));
    expect(machines(project.plan())).toEqual([]);
    project.apply();
    project.synth(inZones("a", "c"));
    expect(() => project.plan()).toThrow(/The machine cp-2 is in \S+,\s+which is no zone of its pool any more/);
    const gone = ['aws_instance.control_plane["cp-2"]', 'aws_instance.worker["w-2"]'];
    const changes = project.plan([], project.stack, gone);
    expect(changes.filter((line) => line.includes("aws_instance"))).toEqual(gone.map((one) => `replace ${one}`));
    const subnets = changes.filter((line) => line.includes("aws_subnet"));
    expect(subnets).toEqual(["delete aws_subnet.private_2", "delete aws_subnet.public_2"]);
  });
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
      const managed = () =>
        project
          .run(project.stack, "state", "list")
          .trim()
          .split("\n")
          .filter((address) => !address.startsWith("data."));
      const before = managed();
      const isAws = kind.startsWith("aws-");
      // There was a bucket on AWS whether anything wrote to it or not; a section backup is what makes it now.
      const yaml = `${readFileSync(join(formerFolder, `${kind}.yaml`), "utf8")}${isAws ? "backup: {}\n" : ""}`;
      project.synth(yaml);
      const changes = project.plan().filter((line) => !line.startsWith("move "));
      // Since then, clusters have a config contract, talosconfigs name one node, members know which machines read their
      // config from user-data, or have elastic addresses, and groups have the names and tags that controllers look for.
      const members = isAws || kind === "libvirt-user-data" ? "|member" : "";
      const explained = new RegExp(
        `^update (talosmith_(cluster|client_files${members})\\.|aws_(iam_role_policy|s3_bucket_lifecycle_configuration)\\.\\w*backups|aws_vpc_security_group_ingress_rule\\.control_plane_kubernetes\\[|aws_(launch_template|autoscaling_group)\\.burst)`,
      );
      // And workers on EC2 have a hardware id, as control planes had, and libvirt machines a processor. A VPC has a way to S3.
      const news = { aws: "hardware", libvirt: "architecture" }[kind.replace(/-.*/, "")];
      const isNew = new RegExp(
        `^create (terraform_data\\.\\w+_${news}\\[|talosmith_etcd_snapshot\\.|aws_vpc_endpoint\\.s3$|aws_eip\\.control_plane_address\\[)`,
      );
      const added = changes.filter((line) => isNew.test(line));
      // Permissions that every cluster had come with their switches now.
      const isGone = /^delete aws_iam_role_policy\.control_plane_(cloud_controller|ebs_csi)$/;
      const gone = changes.filter((line) => isGone.test(line));
      expect(gone).toHaveLength(isAws ? 2 : 0);
      const rest = changes.filter((line) => !explained.test(line) && !added.includes(line) && !gone.includes(line));
      expect(rest).toEqual([]);
      project.apply();
      expect(managed().length).toBe(before.length + added.length - gone.length);
      // Then nothing has to be moved any more, and the stack does not say so for ever.
      expect(stack().moved).not.toBe(undefined);
      project.synth(yaml);
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

    it("of pods does the same, with one state for JSON and HCL", () => {
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
