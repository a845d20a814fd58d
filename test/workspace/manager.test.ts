// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Manager, type ManagerFlags, managerLine, managerOf } from "../../workspace/manager.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-manager-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder for the PATH with a program that is never run. */
function pathWith(program: "terraform" | "tofu"): string {
  const path = join(folder, program);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, program), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  return path;
}
const paths = { terraform: pathWith("terraform"), tofu: pathWith("tofu"), none: "/nowhere" };

const pools = "controlPlane: { count: 1 }\nworkers: []\n";
const kinds = {
  simulated: `infrastructure: { kind: simulated }\n${pools}`,
  metal: `infrastructure: { kind: metal, machines: { lab-cp-1: { address: 192.0.2.7, role: controlplane, fingerprint: "${"a".repeat(43)}=" } } }
cluster: { endpoint: "https://192.0.2.7:6443" }\n`,
  libvirt: `infrastructure: { kind: libvirt, trustOnFirstUse: true }\n${pools}`,
} as const;
const s3 = "backend: { kind: s3, bucket: states, key: lab.tfstate, region: eu-central-1 }\n";
const states = {
  full: JSON.stringify({ version: 4, serial: 1, resources: [{}] }),
  empty: JSON.stringify({ version: 4, serial: 1, resources: [] }),
} as const;
const record = JSON.stringify({
  v: 1,
  machines: [{ name: "lab-cp-1", role: "controlplane", address: "192.0.2.7" }],
});

interface Place {
  readonly kind: keyof typeof kinds;
  readonly path: keyof typeof paths;
  readonly state?: keyof typeof states;
  /** Machines of a deploy without Terraform, or with it and the state of this environment. */
  readonly machines?: boolean | "terraform's";
  readonly backend?: "s3";
  readonly secrets?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The workspace that terraform has selected in the stack. */
  readonly selected?: string;
}

let projects = 0;
function openPlace({ kind, path, state, machines = false, backend, secrets = false, env = {}, selected }: Place) {
  projects += 1;
  const root = join(folder, `project-${projects}`);
  for (const name of ["environments", "state", "secrets"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(join(root, "environments/lab.yaml"), kinds[kind] + (backend === "s3" ? s3 : ""));
  if (state !== undefined) writeFileSync(join(root, "state/lab.tfstate"), states[state]);
  if (machines && kind === "metal") writeFileSync(join(root, "state/lab.machines.json"), record);
  if (selected !== undefined) {
    mkdirSync(join(root, "cdktf.out/stacks/lab/.terraform"), { recursive: true });
    writeFileSync(join(root, "cdktf.out/stacks/lab/.terraform/environment"), selected);
  }
  const workspace = openWorkspace("lab", testContext({ cwd: root, env: { PATH: paths[path], ...env } }));
  // The simulator itself is not needed to know what follows from its answer.
  const answers = { has: async () => machines !== false, madeByTerraform: async () => machines === "terraform's" };
  if (kind === "simulated") Object.defineProperty(workspace, "machines", { value: answers });
  Object.defineProperty(workspace, "secrets", { value: { find: async () => (secrets ? {} : undefined) } });
  return workspace;
}

const terraform = (isNew: boolean): Manager => ({
  kind: "terraform",
  binary: join(paths.terraform, "terraform"),
  isNew,
});
const remade: Manager = { ...terraform(false), lacksState: true } as Manager;
const tofu = (isNew: boolean): Manager => ({ kind: "terraform", binary: join(paths.tofu, "tofu"), isNew });
const talosmith = (isNew: boolean): Manager => ({ kind: "talosmith", isNew });

describe("the manager of an environment", () => {
  test.each<[Place, ManagerFlags, Manager]>([
    // New: what is on the PATH, unless the flag says otherwise.
    [{ kind: "simulated", path: "terraform" }, {}, terraform(true)],
    [{ kind: "simulated", path: "tofu" }, {}, tofu(true)],
    [{ kind: "simulated", path: "none" }, {}, talosmith(true)],
    [{ kind: "simulated", path: "terraform" }, { withoutTerraform: true }, talosmith(true)],
    [{ kind: "metal", path: "terraform" }, {}, terraform(true)],
    [{ kind: "metal", path: "terraform" }, { withoutTerraform: true }, talosmith(true)],
    [{ kind: "metal", path: "none" }, {}, talosmith(true)],
    // A state without resources manages nothing.
    [{ kind: "simulated", path: "terraform", state: "empty" }, {}, terraform(true)],
    [{ kind: "simulated", path: "none", state: "empty" }, {}, talosmith(true)],
    [{ kind: "simulated", path: "terraform", state: "empty" }, { withoutTerraform: true }, talosmith(true)],
    // A state keeps its cluster, whatever else is found or asked for.
    [{ kind: "simulated", path: "terraform", state: "full" }, {}, terraform(false)],
    [{ kind: "simulated", path: "tofu", state: "full" }, { withoutTerraform: true }, tofu(false)],
    [{ kind: "simulated", path: "terraform", state: "full", machines: true }, {}, terraform(false)],
    [{ kind: "metal", path: "terraform", state: "full", machines: true }, { withoutTerraform: true }, terraform(false)],
    // Machines of a deploy without Terraform stay without it.
    [{ kind: "simulated", path: "terraform", machines: true }, {}, talosmith(false)],
    [{ kind: "simulated", path: "terraform", state: "empty", machines: true }, {}, talosmith(false)],
    [{ kind: "simulated", path: "none", machines: true }, {}, talosmith(false)],
    [{ kind: "metal", path: "terraform", machines: true }, {}, talosmith(false)],
    // Machines that Terraform made go on with it, but where only what is there counts.
    [{ kind: "simulated", path: "terraform", machines: "terraform's" }, {}, remade],
    [{ kind: "simulated", path: "terraform", state: "empty", machines: "terraform's" }, { existing: true }, remade],
    [{ kind: "simulated", path: "terraform", machines: "terraform's" }, { withoutTerraform: true }, remade],
    [{ kind: "simulated", path: "terraform", state: "full", machines: "terraform's" }, {}, terraform(false)],
    [{ kind: "simulated", path: "none", machines: "terraform's" }, { stateless: true }, talosmith(false)],
    // Only Terraform can know of these.
    [{ kind: "simulated", path: "terraform", backend: "s3" }, { withoutTerraform: true }, terraform(false)],
    [{ kind: "libvirt", path: "terraform" }, {}, terraform(true)],
    [{ kind: "libvirt", path: "terraform" }, { existing: true }, terraform(true)],
    // Where only existing clusters are changed, nothing is begun with Terraform.
    [{ kind: "simulated", path: "terraform" }, { existing: true }, talosmith(true)],
    [{ kind: "libvirt", path: "terraform", state: "full" }, {}, terraform(false)],
    // A pod has secrets and no record.
    [{ kind: "metal", path: "none", secrets: true }, {}, talosmith(false)],
    [{ kind: "simulated", path: "none", secrets: true }, {}, talosmith(true)],
  ])("%j with %j is %j", async (place, flags, expected) => {
    expect(await managerOf(openPlace(place), flags)).toEqual(expected);
  });

  test.each<[Place, string]>([
    [
      { kind: "simulated", path: "none", state: "full" },
      "lab: it is managed by Terraform, but neither terraform nor tofu is on the PATH",
    ],
    [
      { kind: "simulated", path: "none", backend: "s3" },
      "lab: it is managed by Terraform, but neither terraform nor tofu is on the PATH",
    ],
    [
      { kind: "simulated", path: "none", machines: "terraform's" },
      "lab: its machines were made by Terraform, but neither terraform nor tofu is on the PATH",
    ],
    [
      { kind: "libvirt", path: "none" },
      "lab: machines of kind libvirt are created through Terraform, but neither terraform nor tofu is on the PATH",
    ],
  ])("%j needs Terraform", async (place, message) => {
    for (const existing of [true, false])
      await expect(managerOf(openPlace(place), { existing })).rejects.toMatchObject({
        code: "failed-precondition",
        message,
        hint: expect.stringContaining("TERRAFORM_BINARY_NAME"),
      });
  });

  const inWorkspace = (by: string) =>
    `${by} the workspace blue, but with a local state talosmith uses the workspace default only`;
  const withArgument = (variable: string, argument: string) =>
    `${variable} has ${argument}, so Terraform would do something else than the command says`;
  const withArguments = (variable: string, ...found: readonly string[]) =>
    found.map((argument): [Omit<Place, "kind" | "path">, string] => [
      { env: { [variable]: `-no-color ${argument} -parallelism=2` } },
      withArgument(variable, argument),
    ]);
  test.each<[Omit<Place, "kind" | "path">, string]>([
    [{ env: { TF_WORKSPACE: "blue" } }, inWorkspace("TF_WORKSPACE selects")],
    [{ selected: "blue" }, inWorkspace("terraform has selected")],
    [{ env: { TF_CLI_ARGS_plan: "-destroy" } }, withArgument("TF_CLI_ARGS_plan", "-destroy")],
    [{ env: { TF_CLI_ARGS: "-no-color --target=a.b" } }, withArgument("TF_CLI_ARGS", "--target")],
    [{ env: { TF_CLI_ARGS_plan: "'-replace' a.b" } }, withArgument("TF_CLI_ARGS_plan", "-replace")],
    [{ env: { TF_CLI_ARGS_plan: "-parallelism=2 -refresh-only" } }, withArgument("TF_CLI_ARGS_plan", "-refresh-only")],
    [{ env: { TF_CLI_ARGS: "-state=other.tfstate" } }, withArgument("TF_CLI_ARGS", "-state")],
    [{ env: { TF_CLI_ARGS_init: "-backend-config=path=x" } }, withArgument("TF_CLI_ARGS_init", "-backend-config")],
    [{ env: { TF_CLI_ARGS_apply: "\"-lock\"='false'" } }, withArgument("TF_CLI_ARGS_apply", "-lock=false")],
    ...withArguments("TF_CLI_ARGS", "-help", "-lock=false", "-refresh=false", "-state-out"),
    ...withArguments("TF_CLI_ARGS_plan", "-help", "--help", "-h", "-refresh=F", "-lock=0", "-json"),
    ...withArguments(
      "TF_CLI_ARGS_apply",
      "-state",
      "-state-out",
      "-backup",
      "-lock=false",
      "-refresh=false",
      "-target",
    ),
    ...withArguments("TF_CLI_ARGS_init", "-backend=false", "-migrate-state", "-force-copy", "-from-module"),
    ...withArguments("TF_CLI_ARGS_show", "-help"),
    ...withArguments("TF_CLI_ARGS_output", "-state"),
    ...withArguments("TF_CLI_ARGS_state_pull", "-help"),
  ])("settings of terraform that make a plan of something else are refused: %j", async (more, message) => {
    for (const state of ["full", "empty"] as const)
      await expect(
        managerOf(openPlace({ kind: "simulated", path: "terraform", state, ...more })),
      ).rejects.toMatchObject({
        code: "failed-precondition",
        message,
        hint: expect.stringContaining("cdktf.out/stacks/lab"),
      });
  });

  test.each<[Omit<Place, "kind" | "path">, Manager]>([
    [{ state: "full", env: { TF_WORKSPACE: "default" } }, terraform(false)],
    [{ state: "full", env: { TF_CLI_ARGS_plan: "-parallelism=2 -lock-timeout=5m -refresh=true" } }, terraform(false)],
    // The states of workspaces are in the backend.
    [{ backend: "s3", env: { TF_WORKSPACE: "blue" } }, terraform(false)],
    [{ backend: "s3", env: { TF_CLI_ARGS_init: "-backend-config=profile=ci -upgrade" } }, terraform(false)],
    [{ state: "full", env: { TF_CLI_ARGS_apply: "-auto-approve -lock=true", TF_CLI_ARGS: "-lock" } }, terraform(false)],
    // Terraform is not asked.
    [{ machines: true, env: { TF_WORKSPACE: "blue", TF_CLI_ARGS_plan: "-destroy" } }, talosmith(false)],
  ])("other settings of terraform are left to it: %j", async (more, expected) => {
    expect(await managerOf(openPlace({ kind: "simulated", path: "terraform", ...more }))).toEqual(expected);
  });

  test.each(["terraform", "none"] as const)(
    "a kind that needs Terraform refuses to be deployed without it, with %s on the PATH",
    async (path) => {
      const workspace = openPlace({ kind: "libvirt", path });
      await expect(managerOf(workspace, { withoutTerraform: true })).rejects.toMatchObject({
        code: "invalid-input",
        message: "lab cannot be deployed without Terraform: machines of kind libvirt are created through Terraform",
        hint: "Use terraform or tofu: talosmith deploy lab",
      });
    },
  );

  test.each<[Place, ManagerFlags, string]>([
    [{ kind: "simulated", path: "terraform" }, {}, "lab is new: terraform manages it (state/lab.tfstate)."],
    [{ kind: "simulated", path: "none" }, {}, "lab is new: talosmith manages it without Terraform."],
    [{ kind: "simulated", path: "none", machines: true }, {}, "lab is managed without Terraform."],
    [{ kind: "simulated", path: "tofu", state: "full" }, {}, "lab is managed by tofu (state/lab.tfstate)."],
    [{ kind: "simulated", path: "tofu", backend: "s3" }, {}, "lab is managed by tofu (backend s3)."],
    [
      { kind: "simulated", path: "terraform", state: "full" },
      { withoutTerraform: true },
      "lab is managed by terraform (state/lab.tfstate). --without-terraform is for new clusters.",
    ],
    [
      { kind: "simulated", path: "tofu", machines: "terraform's" },
      {},
      "lab was made by Terraform and its state is gone: tofu goes on with a new state (state/lab.tfstate).",
    ],
  ])("%j with %j is shown as %j", async (place, flags, line) => {
    const workspace = openPlace(place);
    expect(managerLine(workspace, await managerOf(workspace, flags), flags)).toBe(line);
  });
});
