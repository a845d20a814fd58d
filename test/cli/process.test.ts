// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const address = "127.117.43.9";
const root = mkdtempSync(join(tmpdir(), "talosmith-process-"));
const sockets: Socket[] = [];
let listener: ChildProcess;

/** A stopped process whose queue is full: whoever connects now gets no answer at all, not even a refusal. */
beforeAll(async () => {
  const script = `require("node:net").createServer().listen({ port: 50000, host: "${address}", backlog: 1 }, () => console.log("up"))`;
  listener = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  if (listener.stdout !== null) await once(listener.stdout, "data");
  listener.kill("SIGSTOP");
  for (;;) {
    const socket = connect(50_000, address);
    socket.on("error", () => {});
    sockets.push(socket);
    const taken = await Promise.race([
      once(socket, "connect").then(() => true),
      new Promise((wake) => setTimeout(wake, 300)),
    ]);
    if (taken !== true) break;
  }
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  mkdirSync(join(root, "secrets"));
  // One that swallows, and one where nobody is.
  for (const [name, at] of Object.entries({ void: address, nobody: "127.117.43.10" })) {
    const machine = `{ address: ${at}, role: controlplane }`;
    writeFileSync(
      join(root, `environments/${name}.yaml`),
      `infrastructure: { kind: metal, trustOnFirstUse: true, machines: { cp-1: ${machine} } }\ncontrolPlane: {}\n`,
    );
    copyFileSync("test/golden/secrets/secrets-v1.13.yaml", join(root, `secrets/${name}.yaml`));
    chmodSync(join(root, `secrets/${name}.yaml`), 0o600);
  }
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  listener.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

test("a machine that swallows every connection does not hold a command whose time is over", async () => {
  const args = [resolve("bin/talosmith.js"), "health", "void", "--wait-timeout", "1s"];
  const command = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void command.kill("SIGKILL"));
  let said = "";
  let saidLast = 0;
  command.stderr?.on("data", (chunk) => {
    said += chunk;
    saidLast = Date.now();
  });
  const [code] = await once(command, "close");
  expect(said).toContain("waiting for etcd to be healthy: cp-1: no answer yet\n");
  expect(code).toBe(1);
  // Left to itself, the attempt to connect would go on for two minutes.
  expect(Date.now() - saidLast).toBeLessThan(10_000);
});

test("a reader that leaves, as head does, ends no work that is under way, and makes no failure a success", async () => {
  const args = [resolve("bin/talosmith.js"), "health", "void", "--json", "--wait-timeout", "3s"];
  const command = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void command.kill("SIGKILL"));
  if (command.stdout !== null) await once(command.stdout, "data");
  command.stdout?.destroy();
  const [code] = await once(command, "close");
  expect(code).toBe(1);
});

test("a failure that was told before the reader left is still one", async () => {
  const project = mkdtempSync(join(tmpdir(), "talosmith-process-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(join(project, "environments"));
  writeFileSync(join(project, "cdktf.json"), "{}");
  writeFileSync(join(project, "environments/a-broken.yaml"), "infrastructure: { kind: none }\n");
  writeFileSync(join(project, "environments/b-good.yaml"), "infrastructure: { kind: simulated }\ncontrolPlane: {}\n");
  const args = [resolve("bin/talosmith.js"), "synth"];
  const command = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void command.kill("SIGKILL"));
  command.stdout?.destroy();
  const [code] = await once(command, "close");
  expect(code).toBe(1);
});

test("a second Ctrl-C while a command ends does not take its exit code away", async () => {
  for (let round = 0; round < 5; round++) {
    const args = [resolve("bin/talosmith.js"), "health", "nobody"];
    const command = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void command.kill("SIGKILL"));
    let [said, again] = ["", undefined as NodeJS.Timeout | undefined];
    command.stderr?.on("data", (chunk) => {
      if (said === "") command.kill("SIGINT");
      said += chunk;
      if (said.includes("Stopped.")) again ??= setInterval(() => command.kill("SIGINT"), 1);
    });
    const ended = await once(command, "close");
    clearInterval(again);
    expect(again).toBeDefined();
    expect(ended).toEqual([130, null]);
  }
});
