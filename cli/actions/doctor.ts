// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { join, relative } from "node:path";
import { satisfies } from "semver";
import { listEnvironments } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import { programPath } from "../../talos/program-path.ts";
import { projectRoot } from "../../workspace/project.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { abandonedBy, abandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { runProgram } from "../../workspace/terraform/run-program.ts";
import { readState, stateFile } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { table } from "../output/table.ts";
import { clusterFindings } from "./doctor-cluster.ts";
import type { Finding } from "./doctor-finding.ts";

/** Says what a deploy would find, without changing anything. Fails when there is a fault. */
export async function doctor(
  name: string | undefined,
  { json }: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const findings = await doctorFindings(name, context);
  if (json) context.stdout.write(`${JSON.stringify({ v: 1, findings }, undefined, 2)}\n`);
  else
    context.stdout.write(
      table(
        ["", "about", "says"],
        findings.map(({ about, level, says }) => [level, about, says]),
      ),
    );
  if (findings.some(({ level }) => level === "fault")) context.exit(1);
}

/** The same as data, of one environment or of all. */
export async function doctorFindings(name: string | undefined, context: CommandContext): Promise<readonly Finding[]> {
  const findings = await programs(context);
  const root = projectRoot(context.cwd, context.env);
  findings.push(await writable(root), await simulator(root));
  for (const environment of name === undefined ? listEnvironments(root) : [name])
    findings.push(
      ...(await environmentFindings(environment, context)),
      ...(await clusterFindings(environment, context)),
    );
  return findings;
}

async function programs(context: CommandContext): Promise<Finding[]> {
  const node = process.versions.node;
  const findings: Finding[] = [
    satisfies(node, ">=20.19")
      ? { about: "node", level: "ok", says: node }
      : { about: "node", level: "fault", says: `${node}; expected 20.19 or newer` },
  ];
  const used = await finding("terraform", async () => {
    const binary = findTerraform(context.env);
    return binary === undefined ? "neither terraform nor tofu is on the PATH" : `deploys use ${binary}`;
  });
  findings.push(used);
  const asked = [
    ["terraform", ["version"]],
    ["tofu", ["version"]],
    ["helm", ["version", "--short"]],
  ] as const;
  for (const [program, args] of asked) {
    const path = programPath(program, context.env.PATH);
    if (path === undefined) findings.push({ about: program, level: "note", says: "not on the PATH" });
    else findings.push(await finding(program, () => firstLine(path, args, context)));
  }
  return findings;
}

async function firstLine(program: string, args: readonly string[], context: CommandContext): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, context);
  if (code !== 0) throw new TalosError("failed-precondition", `${program} ended with exit code ${code}: ${stderr}`);
  return stdout.split("\n").find((line) => /\d\.\d/.test(line)) ?? stdout.trim();
}

/** Folders that a deploy writes to. */
const written = ["", "cdktf.out", "state", "secrets", "generated"];

/** Asked of the system, for nothing is written here. */
function writable(root: string): Promise<Finding> {
  return finding("project", async () => {
    const folders = written.map((name) => join(root, name)).filter((folder) => existsSync(folder));
    for (const folder of folders)
      await access(folder, constants.W_OK).catch((cause) => {
        throw fileError(
          "write",
          folder,
          cause,
          "A deploy keeps its state, secrets and stacks there: make it writable.",
        );
      });
    return `${root} can be written to`;
  });
}

function simulator(root: string): Promise<Finding> {
  return finding("simulator", async () => {
    const { length } = await projectSimulator(root).listMachines();
    return length === 0 ? "no machines" : `${length} machines`;
  });
}

async function environmentFindings(name: string, context: CommandContext): Promise<Finding[]> {
  let workspace: Workspace;
  try {
    workspace = openWorkspace(name, context);
  } catch (error) {
    return [{ about: name, level: "fault", says: TalosError.from(error).message }];
  }
  const { root, environment, secrets: kept } = workspace;
  const about = (what: string) => `${name}: ${what}`;
  const path = stateFile(root, name);
  let deployed = false;
  const state = await finding(about("state"), async () => {
    if (environment.backend.kind !== "local") return `kept by the ${environment.backend.kind} backend`;
    const abandoned = await abandonedState(workspace);
    if (abandoned !== undefined) return `${abandonedBy(abandoned)}; the next deploy removes it`;
    const found = await readState(path);
    if (found === undefined) return "none: not deployed through Terraform";
    deployed = found.resources !== 0;
    return found.resources === "encrypted" ? "whole, encrypted" : `whole, ${found.resources} resources`;
  });
  const secrets = await finding(about("secrets"), async () => {
    const file = relative(root, kept.file);
    if ((await kept.find()) !== undefined) return `in ${file}`;
    if (!deployed) return `none yet in ${file}`;
    throw new TalosError("not-found", `${file} is missing, but the cluster exists`, {
      hint: "Put it back from your backup: nothing can speak to the machines without it.",
    });
  });
  return [state, secrets, ...loose(about("state"), path), ...loose(about("secrets"), kept.file)];
}

/** A file with keys or a state that others on this computer can read. */
function loose(about: string, path: string): readonly Finding[] {
  if (!existsSync(path) || (statSync(path).mode & 0o077) === 0) return [];
  return [{ about, level: "fault", says: `others can read ${path}: chmod 600 ${path}` }];
}

async function finding(about: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { about, level: "ok", says: await look() };
  } catch (error) {
    const { message, hint } = TalosError.from(error);
    return { about, level: "fault", says: hint === undefined ? message : `${message}. ${hint}` };
  }
}
