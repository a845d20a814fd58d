// SPDX-License-Identifier: Apache-2.0
// A pool is one block of each resource, whatever the number of its machines, and still every machine is its own.
import { App, Aspects, TerraformResource, Testing } from "cdktn";
import type { Construct } from "constructs";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  type Infrastructure,
  type JsonObject,
  LibvirtInfrastructure,
  type Machine,
  type MachineSet,
  MetalInfrastructure,
  type Pool,
  type PoolRequest,
  printStack,
  TalosCluster,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { type AttributeValue, ReplacementTrigger } from "../../constructs/terraform/index.ts";
import { instance, instancesOf, machineOf, machinesOf, type StackJson, stackOf } from "./project.ts";

describe("the HCL of an environment", () => {
  const trust = { trustOnFirstUse: true };
  const network = { mode: "nat", cidr: "10.0.0.0/16", vip: "10.0.0.100" };
  const storagePool = { name: "talos", path: "/var/lib/talos" };
  const environments: Readonly<Record<string, (workers: number) => object>> = {
    lab: (count) => ({
      infrastructure: { kind: "libvirt", network: { vip: "10.0.0.60" }, ...trust },
      workers: [{ count }],
    }),
    simulated: (count) => ({ infrastructure: { kind: "simulated" }, workers: [{ count }] }),
    libvirt: (count) => ({
      infrastructure: { kind: "libvirt", firmware: "uefi", network, storagePool, ...trust },
      workers: [{ count, addressOffset: 300, extraDisks: [{ size: "10GiB" }] }],
    }),
    aws: (count) => ({
      infrastructure: { kind: "aws", region: "eu-central-1", adminCidrs: ["203.0.113.0/24"] },
      workers: [{ count }],
    }),
    docker: (count) => ({ infrastructure: { kind: "container", engine: "docker", ...trust }, workers: [{ count }] }),
    pods: (count) => ({ infrastructure: { kind: "container", engine: "kubernetes", ...trust }, workers: [{ count }] }),
  };
  const metal = (workers: number) => {
    const machine = (role: string) => (_: unknown, index: number) => [
      `rack-${role.slice(0, 1)}${index + 1}`,
      { address: `10.0.${role.length}.${index + 1}`, mac: "52:54:00:00:00:01", disk: "/dev/nvme0n1", role },
    ];
    const planes = Array.from({ length: 3 }, machine("controlplane"));
    const machines = Object.fromEntries([...planes, ...Array.from({ length: workers }, machine("worker"))]);
    return { infrastructure: { kind: "metal", machines, ...trust }, workers: [{}] };
  };
  const linesOf = (environment: object) => {
    const stack = stackOf(stringify({ controlPlane: { count: 3 }, ...environment }));
    const files = printStack(stack as unknown as JsonObject, { environment: "sample", source: "a test" });
    return [...files.values()].join("").split("\n").length;
  };
  const linesOfMetal = (workers: number) => linesOf({ ...metal(workers), controlPlane: undefined });

  test.each(Object.entries(environments))("of %s has one line more for each machine more", (_, environment) => {
    expect(linesOf(environment(100)) - linesOf(environment(2))).toBe(98);
  });

  test("of metal has one line more for each machine more", () => {
    expect(linesOfMetal(100) - linesOfMetal(2)).toBe(98);
  });

  test.each(["lab", "aws"])("of %s is at most a fifth longer with 3+100 machines than with 3+2", (kind) => {
    const environment = environments[kind] as (workers: number) => object;
    expect(linesOf(environment(100)) / linesOf(environment(2))).toBeLessThanOrEqual(1.2);
  });
});

let stack: TalosStack;
beforeEach(() => {
  stack = new TalosStack(new App({ stackTraces: false }), "test");
});

describe("rows.shared", () => {
  type Give = (index: number) => { readonly facts: readonly string[]; readonly value: AttributeValue };

  /** Machines with these facts as columns, and a value for each in a block and in the cluster's list. */
  class Given implements Infrastructure<object> {
    readonly platform = "metal";
    readonly certSans: readonly string[] = [];
    readonly trustOnFirstUse = true;
    readonly #give: Give;

    constructor(give: Give) {
      this.#give = give;
    }

    createMachines(scope: Construct, { rows }: PoolRequest<object>): MachineSet {
      const address = rows.column("address", ({ index }) => this.#give(index).facts[0] ?? "");
      rows.column("other", ({ index }) => this.#give(index).facts[1] ?? "");
      const shared = rows.shared("value", ({ index }) => this.#give(index).value);
      const block = new ReplacementTrigger(scope, "Resource", shared(rows.each), { forEach: rows.forEach });
      const patches = rows.shared("patch", ({ index }) => [JSON.stringify(this.#give(index).value)]);
      return { resources: [block], address, identity: address, patches };
    }

    endpoint(): string {
      return "https://10.0.0.1:6443";
    }
  }

  const workersOf = (scope: TalosStack, give: Give, count: number) => {
    const controlPlane = { endpoint: "https://10.0.0.1:6443", addresses: ["10.0.0.1"] };
    const infrastructure = new Given(give);
    const cluster = new TalosCluster(scope, "Default", { name: "lab", infrastructure, controlPlane });
    new WorkerPool(cluster, "w", { count });
  };

  const facts = fc.array(fc.constantFrom("10.0.0.1", "10.0.0.11", "a", "lab-w-1", "$", "{x}", ""), {
    minLength: 2,
    maxLength: 2,
  });
  /** Parts of texts: what is known of a machine, what Terraform and our marks could be mistaken for, and anything. */
  const piece = fc.oneof(
    fc.constantFrom("<fact 0>", "<fact 1>", "<name>", " ", "-", "${", "%{", "$", "}", '"', "\\", "\n"),
    fc.constantFrom("\0address\0", "\0\0", "\0", "each.key", "key", "machine"),
    fc.string({ unit: "grapheme", maxLength: 4 }),
  );
  const text = fc.array(piece, { maxLength: 6 });
  /** Texts that are alike but for what is known of each machine, or not alike at all. */
  const texts = fc.oneof(
    text.map((all) => [all, all, all]),
    fc.array(text, { minLength: 3, maxLength: 3 }),
  );

  test("gives each machine its own value, whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 3, maxLength: 3 }), texts, (allFacts, allTexts) => {
        const give: Give = (index) => {
          const own = allFacts[index - 1] ?? [];
          const marks: Readonly<Record<string, string | undefined>> = {
            "<fact 0>": own[0],
            "<fact 1>": own[1],
            "<name>": `lab-w-${index}`,
          };
          // Terraform composes characters, as every text of a stack is.
          const whole = (allTexts[index - 1] ?? [])
            .map((part) => marks[part] ?? part)
            .join("")
            .normalize();
          return { facts: own, value: { text: whole, list: [whole, 7] } };
        };
        const made = new TalosStack(new App({ stackTraces: false }), "test");
        workersOf(made, give, 3);
        const json = made.toTerraform() as object;
        for (const index of [1, 2, 3]) {
          const { triggers_replace } = instance(json, `terraform_data.worker["w-${index}"]`);
          expect(triggers_replace).toEqual(give(index).value);
          const { patches } = machineOf(json, `lab-w-${index}`);
          expect(patches).toEqual([JSON.stringify(give(index).value)]);
        }
      }),
    );
  });

  test.each<[string, (index: number) => string, string, boolean]>([
    ["by what is known of each machine", (index) => `at 10.0.0.${index}`, "at ${each.value.address}", true],
    ["by the name of each machine", (index) => `for lab-w-${index}.`, "for lab-${each.key}.", true],
    ["in a template of another program", (index) => `\${A:-10.0.0.${index}}`, "${each.value.value}", false],
    ["by more than that", (index) => `not 10.0.0.${index}0`, "${each.value.value}", false],
  ])("writes a text that differs %s", (_, textOf, written, isOnce) => {
    const give: Give = (index) => ({ facts: [`10.0.0.${index}`], value: textOf(index) });
    workersOf(stack, give, 2);
    const { locals, resource } = stack.toTerraform() as StackJson;
    const row = (index: number) => ({
      address: `10.0.0.${index}`,
      other: "",
      value: isOnce ? undefined : textOf(index).replace("${", "$$$${"),
    });
    expect(locals?.worker).toEqual({ "w-1": row(1), "w-2": row(2) });
    expect(resource.terraform_data?.worker?.triggers_replace).toBe(written);
  });
});

describe("machine.override", () => {
  let workers: Pool<object>;
  let others: Pool<object>;
  beforeEach(() => {
    const infrastructure = new LibvirtInfrastructure(stack, "kvm", { trustOnFirstUse: true });
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane: { count: 3 } });
    workers = new WorkerPool(cluster, "w", { count: 3, extraDisks: [{ size: 2 ** 30 }] });
    others = new WorkerPool(cluster, "more", { count: 2, addressOffset: 120 });
  });
  const machine = (key: string) => workers.machines.find((each) => each.key === key) as Machine;
  const block = (pool: Pool<object>, id: string) => pool.node.findChild(id) as TerraformResource;
  const ofEach = (address: string, argument: string) =>
    ["w-1", "w-2", "w-3"].map((key) => instance(stack.toTerraform() as object, `${address}["${key}"]`)[argument]);

  test("sets an argument for one machine, and the others keep theirs", () => {
    machine("w-2").override(block(workers, "Resource"), "vcpu", 8);
    expect(ofEach("libvirt_domain.worker", "vcpu")).toEqual([2, 8, 2]);
    expect(instance(stack.toTerraform() as object, 'libvirt_domain.more["more-2"]').vcpu).toBe(2);
  });

  test("sets an argument that the others do not have, and one inside of an object", () => {
    machine("w-3").override(block(workers, "Resource"), "title", "the third ${one}");
    machine("w-1").override(block(workers, "Resource"), "os.type_machine", "pc");
    expect(ofEach("libvirt_domain.worker", "title")).toEqual([null, null, "the third ${one}"]);
    expect(ofEach("libvirt_domain.worker", "os")).toMatchObject([
      { type: "hvm", type_machine: "pc" },
      { type: "hvm", type_machine: "q35" },
      { type: "hvm", type_machine: "q35" },
    ]);
  });

  test("keeps arguments of one name apart: those of several blocks, and columns of the machines", () => {
    machine("w-1").override(block(workers, "disk"), "capacity", 11);
    machine("w-2").override(block(workers, "data-1"), "capacity", 22);
    machine("w-3").override(block(workers, "hardware"), "triggers_replace.seed", "other");
    machine("w-1").override(block(workers, "Member"), "address", "192.0.2.1");
    expect(ofEach("libvirt_volume.worker_disk", "capacity")).toEqual([11, 20 * 2 ** 30, 20 * 2 ** 30]);
    expect(ofEach("libvirt_volume.worker_data_1", "capacity")).toEqual([2 ** 30, 22, 2 ** 30]);
    expect(ofEach("talosmith_member.worker", "address")).toEqual(["192.0.2.1", "10.0.0.81", "10.0.0.82"]);
    expect(machineOf(stack.toTerraform() as object, "lab-w-1").address).toBe("10.0.0.80");
  });

  test("takes the last of several values for one argument", () => {
    for (const vcpu of [4, 8]) machine("w-2").override(block(workers, "Resource"), "vcpu", vcpu);
    machine("w-3").override(block(workers, "Resource"), "vcpu", 16);
    expect(ofEach("libvirt_domain.worker", "vcpu")).toEqual([2, 8, 16]);
  });

  test("refuses a block that does not make the machine", () => {
    const all = stack.node.findAll().filter((part) => part instanceof TerraformResource);
    const foreign = all.filter((part) => !part.node.scopes.includes(workers));
    expect(foreign).toContain(block(others, "Resource"));
    for (const part of foreign)
      expect(() => machine("w-2").override(part, "vcpu", 8)).toThrow(
        `${part.node.path}: it does not make w-2; expected a block of the pool of w-2`,
      );
  });

  test("refuses a path through what is no object", () => {
    machine("w-2").override(block(workers, "Resource"), "vcpu.count", 8);
    expect(() => stack.toTerraform()).toThrow(/test\/Default\/w\/Resource: vcpu.count can't be set for one machine/);
  });

  test("reaches one machine from an Aspect over the whole stack", () => {
    Aspects.of(stack).add({
      visit(part) {
        if (!(part instanceof TerraformResource) || part.terraformResourceType !== "libvirt_domain") return;
        if (part.node.scopes.includes(workers)) machine("w-3").override(part, "memory", 16_384);
      },
    });
    const json = JSON.parse(Testing.synth(stack)) as object;
    const memory = (address: string) => instance(json, `libvirt_domain.${address}`).memory;
    expect(['worker["w-2"]', 'worker["w-3"]', 'more["more-1"]'].map(memory)).toEqual([4096, 16_384, 4096]);
  });
});

describe("machines that stay the same in another pool", () => {
  /** Name and address of each member, which have to be those of a machine of the cluster. */
  const membersOf = (json: object) =>
    [...instancesOf(json)].flatMap(([address, { name, address: at }]) =>
      address.startsWith("talosmith_member.") ? [[name, at]] : [],
    );
  const machinesIn = (json: object) => Object.entries(machinesOf(json)).map(([name, { address }]) => [name, address]);

  test("keep their addresses when the first pool has none", () => {
    const main = { infrastructure: { kind: "metal", machines: { a: { address: "10.0.0.7", role: "controlplane" } } } };
    const machines = { x: { address: "10.0.0.8", role: "worker", pool: "two" } };
    const json = stackOf(
      stringify({
        controlPlaneRef: { environment: "main" },
        infrastructure: { kind: "metal", trustOnFirstUse: true, machines },
        workers: [{ name: "one" }, { name: "two" }],
      }),
      { "main.yaml": stringify({ ...main, infrastructure: { ...main.infrastructure, trustOnFirstUse: true } }) },
    );
    expect(membersOf(json)).toEqual([["x", "10.0.0.8"]]);
    expect(machinesIn(json)).toEqual([["x", "10.0.0.8"]]);
  });

  test("are members by their host names, whether their pool names them or not", () => {
    const machines = { "w-1": { address: "10.0.0.1" }, "lab-w-1": { address: "10.0.0.2" } };
    const infrastructure = new MetalInfrastructure(stack, "metal", { machines, trustOnFirstUse: true });
    const controlPlane = { count: 1, names: ["w-1"] };
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane });
    new WorkerPool(cluster, "w", { count: 1 });
    const json = stack.toTerraform() as object;
    expect(membersOf(json).sort()).toEqual([
      ["lab-w-1", "10.0.0.2"],
      ["w-1", "10.0.0.1"],
    ]);
    expect(machinesIn(json).sort()).toEqual(membersOf(json).sort());
  });
});

describe("names of a pool's machines", () => {
  const poolOf = (names: readonly string[]) => () => {
    const infrastructure = new LibvirtInfrastructure(stack, "kvm", { trustOnFirstUse: true });
    const cluster = new TalosCluster(stack, "Default", { name: "lab", infrastructure, controlPlane: { count: 1 } });
    new WorkerPool(cluster, "w", { count: names.length, names });
  };

  test("are refused where two are the same: there would be one machine less than asked for", () => {
    expect(poolOf(["a", "b", "a"])).toThrow("test/Default/w: names has a twice; expected a name for each machine");
  });

  test.each(["", "${x}", 'a"b', "a b", "-a", "A_b", "a".repeat(64)])("are refused where %j is one", (name) => {
    expect(poolOf([name])).toThrow(`test/Default/w: names has ${JSON.stringify(name)}; expected host names`);
  });

  test("are taken as they are", () => {
    expect(poolOf(["rack-1", "Rack2.example.com"])).not.toThrow();
  });
});
