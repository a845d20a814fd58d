// SPDX-License-Identifier: Apache-2.0
// Framework and protocol under the real tools, with a small provider whose things are files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { findTools, finish, type Workspace } from "../support/terraform.ts";
import { ThingProvider } from "../support/thing-workspace.ts";

const tools = findTools();
const provider = new ThingProvider();
const workspaces: Workspace[] = [];

beforeAll(() => provider.build());
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
  provider.remove();
});

test.each([
  { end: "at SIGTERM", environment: {} },
  { end: "when nobody comes for long enough", environment: { THING_PATIENCE: "300" } },
])("a provider that nobody is connected to ends $end and leaves no socket behind", async ({ environment }) => {
  const sockets = join(provider.directory, "sockets");
  mkdirSync(sockets);
  const child = spawn(process.execPath, [join(provider.directory, "terraform-provider-talosmith.cjs")], {
    env: {
      ...process.env,
      TF_PLUGIN_MAGIC_COOKIE: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
      PLUGIN_PROTOCOL_VERSIONS: "6",
      PLUGIN_UNIX_SOCKET_DIR: sockets,
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  expect(readdirSync(sockets)).toHaveLength(1);
  const ended = once(child, "exit");
  if (!("THING_PATIENCE" in environment)) child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(readdirSync(sockets)).toEqual([]);
  rmSync(sockets, { recursive: true });
});

test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

describe.each(tools)("under $name", (tool) => {
  const open = async (body: string, environment: Record<string, string> = {}) => {
    const workspace = await provider.workspace(tool, body, environment);
    workspaces.push(workspace);
    return workspace;
  };
  // What depends on our side only is seen under one tool; all of it under every tool with `npm run test:all`.
  const once = test.skipIf(tool !== tools[0] && !everything);
  const long = test.skipIf(!everything);
  const thingFile = (workspace: Workspace, id: string) => join(workspace.directory, "things", `${id}.json`);
  const plan = ["plan", "-no-color", "-input=false"];

  test("blocks are written, counted, planned and kept as HCL has them", async () => {
    const config = (more: string, rules = "") => `
      resource "thing_thing" "a" {
        name = "a"
        rule {
          action = "keep"
          when {
            field  = "color"
            values = ["red"]
          }
          when { field = "size" }
        }
        ${rules}
        disk "root" { gigabytes = 20 }
        disk "data" { gigabytes = 100 }
        ${more}
      }`;
    const workspace = await open(config(""));
    await workspace.apply();
    for (const refresh of ["-refresh=false", "-refresh=true", "-refresh-only"])
      expect(await workspace.isSettled(refresh), refresh).toBe(true);
    const whole = {
      action: "keep",
      weight: 10,
      serial: "a/rule/0",
      when: [
        { field: "color", values: ["red"], negate: false },
        { field: "size", values: null, negate: false },
      ],
    };
    expect(await workspace.resource("thing_thing.a")).toMatchObject({
      rule: [whole],
      disk: { root: { gigabytes: 20 }, data: { gigabytes: 100 } },
      owner: null,
    });

    // Repeated by the language, with a value that is known only after apply.
    const later = `resource "terraform_data" "field" { input = "shape" }
      resource "terraform_data" "weights" { input = ["1", "2"] }`;
    const repeated = `
        dynamic "rule" {
          for_each = terraform_data.weights.output
          content {
            action = "drop"
            weight = tonumber(rule.value)
            when { field = terraform_data.field.output }
          }
        }`;
    workspace.write("main.tf", `${later}\n${config('owner { email = "a@b.example" }', repeated)}`);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    expect(await workspace.resource("thing_thing.a")).toMatchObject({
      rule: [whole, { weight: 1, serial: "a/rule/1", when: [{ field: "shape" }] }, { weight: 2 }],
      owner: { email: "a@b.example" },
      revision: 2,
    });

    const rule = 'rule {\n action = "more"\n when { field = "x" }\n }\n';
    workspace.write("main.tf", config("", rule.repeat(3)));
    expect((await workspace.run(["validate", "-no-color"])).text).toContain("Too many rule blocks");
    workspace.write("main.tf", config("", 'rule { action = "never" }'));
    expect((await workspace.run(["validate", "-no-color"])).text).toContain("Insufficient when blocks");
    workspace.write("main.tf", config("", rule.replace("more", "forbidden")));
    const refused = (await workspace.run(["validate", "-no-color"])).text;
    expect(refused).toContain("Not allowed");
    expect(refused).toMatch(/13: action = "forbidden"/);
    expect(refused).toContain("At: rule[1].action");

    // JSON has no blocks of its own: an object or a list of them.
    rmSync(join(workspace.directory, "main.tf"));
    workspace.write(
      "main.tf.json",
      JSON.stringify({
        resource: { thing_thing: { a: { name: "a", rule: [{ action: "keep", when: { field: "color" } }] } } },
      }),
    );
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    expect(await workspace.resource("thing_thing.a")).toMatchObject({ rule: [{ action: "keep" }], disk: {} });
    await workspace.ok(["state", "rm", "thing_thing.a"]);
    await workspace.ok(["import", "-input=false", "thing_thing.a", "a"]);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });

  test("a resource goes through its whole life", async () => {
    const config = (size: string, color = "") => `
      resource "thing_thing" "a" {
        name   = "a"
        size   = ${size}
        ratio  = 0.1
        tags   = ["y", "x"]
        labels = { "__proto__" = "kept", constructor = "kept" }
        parts  = { one = { count = 1 }, two = { count = 2, kind = "nut" } }
        ${color}
      }`;
    const workspace = await open(config("123456789012345678901234567890"));
    await workspace.ok(["validate"]);
    await workspace.ok([...plan, "-out=saved.tfplan"]);
    await workspace.ok(["apply", "-no-color", "saved.tfplan"]);
    expect(await workspace.isSettled()).toBe(true);
    expect(await workspace.isSettled("-refresh=false")).toBe(true);
    expect(workspace.read("terraform.tfstate")).toContain("123456789012345678901234567890");
    expect(await workspace.resource("thing_thing.a")).toMatchObject({
      id: "a",
      color: "grey",
      revision: 1,
      labels: { constructor: "kept" },
      parts: { one: { count: 1, kind: "screw", serial: "a/one" }, two: { kind: "nut", serial: "a/two" } },
    });

    workspace.write("main.tf", config("5", 'color = "blue"'));
    const change = await workspace.ok(plan);
    expect(change.text).toContain("will be updated in-place");
    await workspace.apply();
    expect(await workspace.resource("thing_thing.a")).toMatchObject({ color: "blue", revision: 2, id: "a" });
    expect(await workspace.isSettled()).toBe(true);

    const stored = JSON.parse(readFileSync(thingFile(workspace, "a"), "utf8"));
    writeFileSync(thingFile(workspace, "a"), JSON.stringify({ ...stored, color: "green" }));
    expect(await workspace.isSettled()).toBe(false);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    rmSync(thingFile(workspace, "a"));
    expect((await workspace.ok(plan)).text).toContain("will be created");
    await workspace.apply();

    workspace.write("main.tf", config("5").replace('name   = "a"', 'name   = "b"'));
    expect((await workspace.ok(plan)).text).toContain("must be replaced");
    await workspace.apply();
    expect(readdirSync(join(workspace.directory, "things"))).toEqual(["b.json"]);

    await workspace.ok(["state", "rm", "thing_thing.a"]);
    await workspace.ok(["import", "-input=false", "thing_thing.a", "b"]);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);

    await workspace.destroy();
    expect(readdirSync(join(workspace.directory, "things"))).toEqual([]);
  });

  test("ephemeral values reach a write-only attribute and no file of the tool", async () => {
    const workspace = await open(`
      ephemeral "thing_key" "k" { text = "canary-ephemeral" }
      resource "thing_thing" "a" {
        name   = "a"
        secret = ephemeral.thing_key.k.text
      }
      data "thing_echo" "e" { text = "hello" }
      output "length" { value = data.thing_echo.e.length }
      output "joined" { value = provider::thing::join("a", "b", "c") }
    `);
    await workspace.ok([...plan, "-out=saved.tfplan"]);
    await workspace.apply();
    expect(readFileSync(thingFile(workspace, "a"), "utf8")).toContain("canary-ephemeral");
    expect(workspace.read("terraform.tfstate")).not.toContain("canary-ephemeral");
    const { stdout } = await workspace.ok(["output", "-json"]);
    expect(JSON.parse(stdout)).toMatchObject({ length: { value: 5 }, joined: { value: "a-b-c" } });
    expect(await workspace.isSettled()).toBe(true);
  });

  once("faults are shown at the attribute, all of them in one run", async () => {
    const workspace = await open(`
      resource "thing_thing" "a" {
        name  = "A"
        parts = { one = { count = 0 }, two = { count = 1.5 } }
      }
      output "bad" { value = provider::thing::join("") }
    `);
    const { code, text } = await workspace.run(["validate", "-no-color"]);
    expect(code).toBe(1);
    expect(text).toContain('3: name = "A"');
    expect(text).toContain("Bad name");
    expect(text).toContain('At: parts["one"].count');
    expect(text).toContain("Not a whole number");
    workspace.write("main.tf", 'output "bad" { value = provider::thing::join("") }');
    expect((await workspace.run(plan)).text).toContain("must not be empty");
  });

  once("values that are unknown while planning are known after the apply", async () => {
    const workspace = await open(`
      resource "thing_thing" "a" { name = "a" }
      resource "thing_thing" "b" {
        name  = "b"
        text  = thing_thing.a.id
        parts = { one = { count = thing_thing.a.revision } }
      }
    `);
    await workspace.apply();
    expect(await workspace.resource("thing_thing.b")).toMatchObject({ text: "a", parts: { one: { count: 1 } } });
    expect(await workspace.isSettled()).toBe(true);
  });

  once("a failed create leaves nothing, a failed update what was saved, a failed delete everything", async () => {
    const config = (fail: string, more = "") =>
      `resource "thing_thing" "a" {\n name = "a"\n fail = "${fail}"\n ${more}\n}`;
    const workspace = await open(config("create"));
    const failed = await workspace.run(["apply", "-auto-approve", "-no-color"]);
    expect(failed.text).toContain("Told to fail");
    expect(await workspace.resource("thing_thing.a")).toBeUndefined();
    expect((await workspace.ok(plan)).text).toContain("will be created");

    workspace.write("main.tf", config("update"));
    await workspace.apply();
    workspace.write("main.tf", config("update", 'color = "red"'));
    expect((await workspace.run(["apply", "-auto-approve", "-no-color"])).text).toContain("Told to fail");
    expect(await workspace.resource("thing_thing.a")).toMatchObject({ color: "grey", revision: 2 });

    workspace.write("main.tf", config("delete"));
    await workspace.apply();
    expect((await workspace.run(["destroy", "-auto-approve", "-no-color"])).text).toContain("Told to fail");
    expect(await workspace.resource("thing_thing.a")).toMatchObject({ fail: "delete" });
  });

  once("a destroy can be refused while it is only planned", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n labels = { protected = "true" }\n}`);
    await workspace.apply();
    const refused = await workspace.run(["plan", "-destroy", "-no-color"]);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("Protected");
  });

  once("a state of an older schema is upgraded", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n}`);
    await workspace.apply();
    const state = JSON.parse(workspace.read("terraform.tfstate"));
    const instance = state.resources[0].instances[0];
    instance.schema_version = 0;
    instance.attributes.title = instance.attributes.name;
    delete instance.attributes.name;
    workspace.write("terraform.tfstate", JSON.stringify(state));
    expect(await workspace.isSettled()).toBe(true);
    instance.schema_version = 7;
    workspace.write("terraform.tfstate", JSON.stringify({ ...state, serial: state.serial + 1 }));
    const newer = await workspace.run(plan);
    expect(newer.code).toBe(1);
  });

  long("values of many megabytes pass", async () => {
    const workspace = await open(
      `resource "thing_thing" "a" {\n name = "a"\n text = join("", [for i in range(12) : file("big.txt")])\n}`,
    );
    workspace.write("big.txt", "ä0123456789".repeat(100_000));
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
  });

  test("interruption stops an operation and keeps what was there", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n delay = 60000\n}`);
    const child = workspace.start(["apply", "-auto-approve", "-no-color"]);
    const done = finish(child);
    await seen(child, "Creating...");
    // The word comes before the call.
    await sleep(700);
    child.kill("SIGINT");
    const { code, text } = await done;
    expect(code).toBe(1);
    expect(text).toContain("The run was interrupted");
    expect(await workspace.resource("thing_thing.a")).toBeUndefined();
  });

  once("a timeout ends an operation and says which one to raise", async () => {
    const workspace = await open(
      `resource "thing_thing" "a" {\n name = "a"\n delay = 60000\n timeouts = { create = "300ms" }\n}`,
    );
    expect((await workspace.run(["apply", "-auto-approve", "-no-color"])).text).toContain("raise timeouts.create");
    workspace.write("main.tf", `resource "thing_thing" "a" {\n name = "a"\n timeouts = { create = "soon" }\n}`);
    expect((await workspace.run(["validate", "-no-color"])).text).toContain("Not a duration");
  });

  test("the provider does not outlive a tool that was killed", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n delay = 60000\n}`);
    const sockets = join(workspace.directory, "sockets");
    mkdirSync(sockets);
    const child = workspace.start(["apply", "-auto-approve", "-no-color"], { TMPDIR: sockets });
    const done = finish(child);
    await seen(child, "Creating...");
    const running = () => readdirSync(sockets).filter((name) => name.startsWith("talosmith-"));
    expect(running()).toHaveLength(1);
    child.kill("SIGKILL");
    await done;
    for (let i = 0; i < 40 && running().length > 0; i++) await sleep(100);
    expect(running()).toEqual([]);
  });

  test("a crash of the provider is an error of the run and not a hang", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n fail = "crash"\n}`);
    const { code, text } = await workspace.run(["apply", "-auto-approve", "-no-color"]);
    expect(code).toBe(1);
    if (tool.name === "terraform") expect(text).toContain("crashed on purpose");
  });

  test("the provider's log arrives in TF_LOG with its level", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n}`);
    const { stderr } = await workspace.run(["apply", "-auto-approve", "-no-color"], { TF_LOG: "INFO" });
    expect(stderr).toMatch(/\[INFO\].*configured/);
  });

  once("plain transport without TLS works where the tool is told so", async () => {
    const workspace = await open(`resource "thing_thing" "a" {\n name = "a"\n}`);
    const { code } = await workspace.run(["apply", "-auto-approve", "-no-color"], { TF_DISABLE_PLUGIN_TLS: "1" });
    expect(code).toBe(0);
    expect(existsSync(thingFile(workspace, "a"))).toBe(true);
  });
});

/** Resolves when the tool has printed a text. */
function seen(child: ReturnType<Workspace["start"]>, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (part) => {
      output += part;
      if (output.includes(text)) resolve();
    });
    child.on("close", () => reject(new Error(`ended without ${text}:\n${output}`)));
  });
}
