// SPDX-License-Identifier: Apache-2.0
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerStatus } from "../../cli/commands/inspect.ts";
import { registerRestore, registerRotateCa } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import type { DesiredCluster } from "../../engine/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { openWatchedProject } from "../../watch/project.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { prepareStack } from "../../workspace/terraform/prepare-stack.ts";
import { testSecrets } from "../engine/fixture.ts";
import { type SimulatedLab, simulatedLab } from "../engine/simulated-cluster.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { runCommand } from "../support/run-command.ts";
import { saveSnapshot } from "../support/save-snapshot.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

/** Machines that Terraform made are known by its state alone; here simulated ones stand in for virtual ones. */
describe("a cluster on machines that Terraform made", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-recorded-"));
  const at = (path: string) => join(root, path);
  let lab: SimulatedLab;
  let desired: DesiredCluster;

  let env: Readonly<Record<string, string>> = { PATH: "/nowhere" };

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, [registerRestore, registerRotateCa, registerStatus]), args, context);
    return context.written;
  }
  const state = (resources: readonly object[]) =>
    writeFileSync(
      at("state/lab.tfstate"),
      JSON.stringify({
        version: 4,
        terraform_version: "1.11.4",
        lineage: "recorded",
        serial: 1,
        resources,
        outputs: {},
      }),
    );
  const resource = (type: string, attributes: object) => ({
    mode: "managed",
    type,
    name: "x",
    provider: 'provider["example.com/some/provider"]',
    instances: [{ schema_version: 0, attributes }],
  });

  beforeAll(async () => {
    for (const folder of ["environments", "state", "secrets"]) mkdirSync(at(folder));
    writeFileSync(at("cdktf.json"), "{}");
    writeFileSync(
      at("environments/lab.yaml"),
      "infrastructure: { kind: libvirt, trustOnFirstUse: true, uri: 'qemu:///system', network: { cidr: 10.0.0.0/24 } }\ncontrolPlane: { count: 1 }\nsecrets: { file: secrets/lab.yaml }\n",
    );
    await secretsStore({ kind: "file", path: at("secrets/lab.yaml") }).create(testSecrets());
    lab = await simulatedLab("lab");
    await lab.create("cp-1");
    desired = await lab.desired(["cp-1"]);
    await lab.apply(desired);
    const [machine] = await lab.machines(["cp-1"]);
    if (machine === undefined) throw new Error("no machine");
    const { role, address, fingerprint } = machine;
    state([
      resource("libvirt_domain", {}),
      resource("talosmith_cluster", {
        name: "lab",
        endpoint: desired.endpoint,
        talos_version: "v1.13.9",
        kubernetes_version: "1.36.3",
        machines: { "cp-1": { role, address, fingerprint } },
      }),
    ]);
  });

  afterAll(async () => {
    await lab.end();
    rmSync(root, { recursive: true, force: true });
  });

  test("is seen with its machines, and its CAs can be exchanged", async () => {
    const status = await talosmith("status", "lab");
    expect(status.stdout, status.stderr).toContain("cp-1");
    const { stdout, exitCode, stderr } = await talosmith("rotate-ca", "lab");
    expect(exitCode, stderr).toBe(0);
    expect(stdout.match(/ cp-1: apply config without a reboot/g)).toHaveLength(3);
    // Neither goes through Terraform, so that neither needs it on the PATH.
    for (const shown of [status.stderr, stderr])
      expect(shown).toMatch(/^lab is managed by terraform \(state\/lab\.tfstate\)\.\n/);
  });

  describe.each(findTools())("as $name tells", ({ name, path }) => {
    const words =
      "infrastructure: { kind: libvirt, trustOnFirstUse: true, uri: 'qemu:///system', network: { cidr: 10.0.0.0/24 } }\ncontrolPlane: { count: 1 }\nsecrets: { file: secrets/lab.yaml }\n";
    const backend = (text: string) => writeFileSync(at("environments/lab.yaml"), `${words}backend: ${text}\n`);

    beforeAll(() => {
      env = cleanEnvironment({ TERRAFORM_BINARY_NAME: path, TF_VAR_state_passphrase: "correct horse battery staple" });
    });
    afterAll(() => {
      env = { PATH: "/nowhere" };
      writeFileSync(at("environments/lab.yaml"), words);
    });

    test("is found by a state on a server, without the providers of its stack", async () => {
      const answers = [readFileSync(at("state/lab.tfstate"), "utf8"), ""];
      const server = createServer((_, response) => {
        const text = answers[0] ?? "";
        response.writeHead(text === "" ? 404 : 200, { "content-type": "application/json" }).end(text);
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      try {
        const http = `{ kind: http, address: "http://127.0.0.1:${(server.address() as AddressInfo).port}/state" }`;
        backend(http);
        mkdirSync(at("locks"));
        writeFileSync(at("locks/lab.hcl"), "");
        const found = await talosmith("status", "lab");
        expect(found.stdout, found.stderr).toContain("cp-1");
        // A deploy may have planned in this stack, and not applied yet.
        const lock = at("cdktf.out/stacks/lab/.terraform.lock.hcl");
        appendFileSync(lock, "# from init\n");
        await talosmith("status", "lab");
        expect(readFileSync(lock, "utf8")).toContain("# from init");
        // The stack that was generated last will do for a file that breaks a rule.
        backend(`${http}\ncluster: { podCidrs: [10.96.0.0/16] }`);
        const broken = await talosmith("status", "lab");
        expect(broken.stdout, broken.stderr).toContain("cp-1");
        backend(http);
        answers.shift();
        expect((await talosmith("status", "lab")).stderr).toContain("lab is not deployed: its state has no cluster");
      } finally {
        server.close();
      }
    });

    if (name !== "tofu") return;
    // OpenTofu takes its time with each passphrase, on purpose.
    test.skipIf(!everything)("is found by a state that is encrypted, with its passphrase alone", async () => {
      const plain = readFileSync(at("state/lab.tfstate"), "utf8");
      backend("{ kind: local, encryption: passphrase }");
      const directory = await prepareStack(root, "lab", { env, signal: new AbortController().signal });
      const folder = at("sealing");
      mkdirSync(folder);
      copyFileSync(join(directory, "encryption.tofu"), join(folder, "encryption.tofu"));
      writeFileSync(join(folder, "plain.tfstate"), plain);
      const sealed = { backend: { local: { path: at("state/lab.tfstate") } } };
      writeFileSync(join(folder, "backend.tf.json"), JSON.stringify({ terraform: sealed }));
      rmSync(at("state/lab.tfstate"));
      await runCommand(path, ["init", "-plugin-dir=."], { cwd: folder, env });
      expect(await runCommand(path, ["state", "push", "plain.tfstate"], { cwd: folder, env })).toMatchObject({
        code: 0,
      });
      expect(readFileSync(at("state/lab.tfstate"), "utf8")).toContain('"encrypted_data"');
      const found = await talosmith("status", "lab");
      expect(found.stdout, found.stderr).toContain("cp-1");
      env = { ...env, TF_VAR_state_passphrase: "another horse altogether" };
      expect((await talosmith("status", "lab")).exitCode).toBe(1);
      writeFileSync(at("state/lab.tfstate"), plain);
    });
  });

  test("is observed by the operator, and not repaired where terraform is missing", async () => {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
    const site = openWatchedProject(root, ["lab"], context);
    const look = await site.observe(site.load("lab"), context.signal);
    expect(look.machines.map(({ name }) => name)).toEqual(["cp-1"]);
    expect(look.observed.machines.get("cp-1")?.state.kind).toBe("configured");
    expect(look.obstacle).toBe(
      "lab: machines of kind libvirt are created through Terraform, but neither terraform nor tofu is on the PATH",
    );
  });

  test("is read-only in the web console where terraform is missing, but for work on single machines", async () => {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
    const project = openConsoleProject(root, context);
    const environment = project.load("lab");
    expect(await project.obstacle(environment)).toBe(
      "lab: machines of kind libvirt are created through Terraform, but neither terraform nor tofu is on the PATH. Install terraform or tofu, or set TERRAFORM_BINARY_NAME to its path.",
    );
    const { steps } = await project.plan(environment, { kind: "reboot", machine: "cp-1" }, context.signal);
    expect(steps.map(({ sentence }) => sentence)).toContain("reboot cp-1");
  });

  test("is restored from a backup", async () => {
    const snapshot = at("etcd.snapshot");
    await saveSnapshot(desired, testSecrets(), snapshot);
    const refused = await talosmith("restore", "lab", "--from", snapshot, "--yes");
    expect(refused.stderr).toContain("cp-1 still has etcd data");
    const { exitCode, stderr } = await talosmith("restore", "lab", "--from", snapshot, "--yes", "--discard-data");
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain("lab is back");
    expect(existsSync(at("generated/lab/kubeconfig"))).toBe(true);
  });

  test("that is not in the state is told not to be deployed", async () => {
    state([resource("libvirt_domain", {})]);
    for (const command of [
      ["status", "lab"],
      ["restore", "lab", "--from", at("etcd.snapshot"), "--yes"],
    ])
      expect((await talosmith(...command)).stderr).toContain("lab is not deployed: its state has no cluster");
  });

  test("that is not in the state yet, while the first apply makes it, is seen by its file and secrets", async () => {
    state([resource("libvirt_domain", {})]);
    const [machine] = await lab.machines(["cp-1"]);
    const [, cidr, offset] = /^(.*)\.(\d+)$/.exec(machine?.address ?? "") ?? [];
    writeFileSync(
      at("environments/lab.yaml"),
      `infrastructure: { kind: libvirt, trustOnFirstUse: true, network: { cidr: ${cidr}.0/24, controlPlaneOffset: ${offset} } }\ncontrolPlane: { count: 1 }\nworkers: []\nsecrets: { file: secrets/lab.yaml }\n`,
    );
    await prepareStack(root, "lab", { env, signal: new AbortController().signal });
    expect((await talosmith("status", "lab")).stderr).toContain("lab is not deployed");
    mkdirSync(at("generated/.creating"), { recursive: true });
    writeFileSync(at("generated/.creating/lab"), "");
    const { stdout, stderr } = await talosmith("status", "lab");
    expect(stdout, stderr).toMatch(/cp-1 +controlplane +\S+ +running/);
  });
});
