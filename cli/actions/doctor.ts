// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { connect } from "node:net";
import { join, relative } from "node:path";
import { satisfies } from "semver";
import { type DesiredMachine, type Machines, talosMachines } from "../../engine/index.ts";
import { listEnvironments } from "../../model/index.ts";
import { noAddress, type Probe } from "../../simulator/control/index.ts";
import { endsSoon } from "../../talos/client-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import { programPath } from "../../talos/program-path.ts";
import { ageOf, counted } from "../../workspace/amounts.ts";
import { libvirtHost } from "../../workspace/libvirt-host.ts";
import { managerLine, managerOf } from "../../workspace/manager.ts";
import { projectRoot } from "../../workspace/project.ts";
import { missingLoopback } from "../../workspace/simulated-machines.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { missingImages } from "../../workspace/start-images.ts";
import { abandonedBy, abandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { runProgram } from "../../workspace/terraform/run-program.ts";
import { mayHaveCluster, readState, stateFile } from "../../workspace/terraform/state-file.ts";
import { virshPath } from "../../workspace/virsh.ts";
import { type DeployedCluster, openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { jsonText, tableWithText } from "../output/table.ts";
import { asTyped } from "../typed-name.ts";

/** Says what a deploy would find, without changing anything. Fails when there is a fault. */
export async function doctor(
  name: string | undefined,
  { json }: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const findings = await doctorFindings(name, context);
  const rows = findings.map(({ about, level, says }) => [level, about, asTyped(says, context.name)]);
  context.stdout.write(
    json ? jsonText({ v: 1, findings }) : tableWithText(["", "check", "result"], rows, context.stdout.columns),
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
  findings.push(await usedTerraform(context));
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

/** A new cluster may be managed without it. Whether an environment needs it is found with its manager. */
async function usedTerraform({ env }: CommandContext): Promise<Finding> {
  let level: Finding["level"] = "ok";
  const used = await finding("terraform", async () => {
    const binary = findTerraform(env);
    if (binary !== undefined) return `deploys use ${binary}`;
    level = "note";
    return "neither terraform nor tofu is on the PATH";
  });
  return used.level === "ok" ? { ...used, level } : used;
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
    return length === 0 ? "no machines" : counted(length, "machine");
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
  let hasCluster = false;
  let isAbandoned = false;
  const state = await finding(about("state"), async () => {
    if (environment.backend.kind !== "local") return `kept by the ${environment.backend.kind} backend`;
    const abandoned = await abandonedState(workspace);
    isAbandoned = abandoned !== undefined;
    if (abandoned !== undefined) return `${abandonedBy(abandoned)}; the next deploy removes it`;
    const found = await readState(path);
    if (found === undefined) return "none: not deployed through Terraform";
    deployed = found.resources !== 0;
    hasCluster = mayHaveCluster(found);
    return found.resources === "encrypted" ? "whole, encrypted" : `whole, ${counted(found.resources, "resource")}`;
  });
  const secrets = await finding(about("secrets"), async () => {
    const file = relative(root, kept.file);
    if ((await kept.find()) !== undefined) return `in ${file}`;
    if (!hasCluster) return `none yet in ${file}`;
    throw new TalosError("not-found", `${file} is missing, but the cluster exists`, {
      hint: "Put it back from your backup: nothing can speak to the machines without it.",
    });
  });
  // Of a state that cannot be read, the manager is not known.
  const isKnown = state.level === "ok" && !isAbandoned;
  const manager = isKnown ? [await finding(about("manager"), () => managerWords(workspace))] : [];
  const images = missingImages(workspace).map((image): Finding => {
    // Machines that are there have their disks already.
    const level = deployed ? "note" : "fault";
    return { about: about("image"), level, says: `${image} is not there: new virtual machines start from it` };
  });
  const virsh = environment.kind === "libvirt" ? [virshFinding(about("virsh"), context)] : [];
  const modes = [...loose(about("state"), path), ...loose(about("secrets"), kept.file)];
  const host = await hostFindings(about("host"), workspace);
  return [state, ...manager, secrets, ...images, ...virsh, ...host, ...modes, ...(await loopbackFindings(workspace))];
}

async function hostFindings(about: string, workspace: Workspace): Promise<readonly Finding[]> {
  const report = await libvirtHost(workspace);
  if (report === undefined) return [];
  if (report.kind === "unknown") return [{ about, level: "note", says: `not checked: ${report.reason}` }];
  const { missing } = report;
  if (missing.length === 0) return [{ about, level: "ok", says: "storage pools and network bridge are there" }];
  return missing.map((says) => ({ about, level: "fault", says }));
}

function virshFinding(about: string, { env }: CommandContext): Finding {
  const path = virshPath(env);
  if (path !== undefined) return { about, level: "ok", says: `disks are enlarged by ${path}` };
  return { about, level: "note", says: "not on the PATH: a deploy that enlarges disks needs it" };
}

/** What a deploy would be done by. Throws where that is not here. */
async function managerWords(workspace: Workspace): Promise<string> {
  return managerLine(workspace, await managerOf(workspace));
}

/** Of simulated machines: loopback addresses that the system does not have, and how to add them. */
export async function loopbackFindings(workspace: Workspace, probe?: Probe): Promise<readonly Finding[]> {
  const missing = await missingLoopback(workspace, probe);
  if (missing.length === 0) return [];
  const { message, hint } = noAddress(missing);
  return [{ about: `${workspace.name}: loopback`, level: "fault", says: `${message}. ${hint}` }];
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

/** One thing that the doctor looked at. */
export interface Finding {
  readonly about: string;
  /** A fault keeps a deploy from working, or is dangerous; a note does not. */
  readonly level: "ok" | "note" | "fault";
  readonly says: string;
}

/** From here on certificates and tokens of one machine are refused by another. */
const tolerated = 60_000;
/** A port that is closed by a firewall answers nothing at all. */
const patience = 5_000;
const atOnce = 16;

/** What a cluster that was deployed shows from this computer: client files, open ports, certificates, clocks. */
async function clusterFindings(name: string, context: CommandContext): Promise<readonly Finding[]> {
  let workspace: Workspace;
  let cluster: DeployedCluster;
  try {
    workspace = openWorkspace(name, context);
    cluster = await workspace.deployed();
  } catch (error) {
    // Not deployed, or told already with the state and the secrets.
    if (error instanceof TalosError) return [];
    throw error;
  }
  const machines = talosMachines(cluster);
  try {
    const found: Finding[] = [];
    await forEachAtOnce(cluster.desired.machines, atOnce, async (machine) => {
      found.push(await machineFinding(name, machine, machines, context));
    });
    return [
      ...(await certificateFindings(workspace)),
      await endpointFinding(name, cluster.desired.endpoint),
      ...found.sort((a, b) => (a.about < b.about ? -1 : 1)),
    ];
  } finally {
    machines.close();
  }
}

async function certificateFindings({ name, clientFiles, context }: Workspace): Promise<readonly Finding[]> {
  const certificates = await clientFiles.certificates();
  return certificates.map(({ name: file, expiresAt }) => {
    const about = `${name}: ${file}`;
    const left = expiresAt.getTime() - context.clock.now().getTime();
    if (left <= 0) return { about, level: "fault", says: `ended at ${expiresAt.toISOString()}; a deploy renews it` };
    const says = `valid for ${ageOf(left)}`;
    return endsSoon(expiresAt, context.clock.now())
      ? { about, level: "note", says: `${says}; the next deploy renews it` }
      : { about, level: "ok", says };
  });
}

/** Does the work for every item, for so many at once. */
export async function forEachAtOnce<T>(
  items: readonly T[],
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: count }, lane));
}

/** Whether the Kubernetes API's port is open from here. */
function endpointFinding(name: string, endpoint: string): Promise<Finding> {
  const about = `${name}: endpoint`;
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443), timeout: patience });
    const end = (level: Finding["level"], says: string) => {
      socket.destroy();
      resolve({ about, level, says: `${endpoint}: ${says}` });
    };
    socket.once("connect", () => end("ok", "the port is open"));
    socket.once("timeout", () => end("fault", "no answer in time: is the port open from this computer?"));
    socket.once("error", (error) => end("fault", error.message));
  });
}

/** Port, certificate and clock of one machine. */
async function machineFinding(
  name: string,
  machine: DesiredMachine,
  machines: Machines,
  { signal }: CommandContext,
): Promise<Finding> {
  const about = `${name}: ${machine.name}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  try {
    const state = await machines.inspect(machine, limit);
    if (state.kind === "unreachable" || state.kind === "foreign") return { about, level: "fault", says: state.reason };
    if (state.kind === "maintenance") return { about, level: "note", says: "in maintenance mode, without a config" };
    const offset = await machines.clockOffset(machine, limit);
    if (offset === undefined || Math.abs(offset) < tolerated)
      return { about, level: "ok", says: "answers, certificate and clock are right" };
    const seconds = Math.round(Math.abs(offset) / 1000);
    return { about, level: "fault", says: `its clock is ${seconds} s ${offset > 0 ? "ahead of" : "behind"} ours` };
  } catch (error) {
    const { code, message } = TalosError.from(error);
    if (code === "internal" && !limit.aborted) throw error;
    return { about, level: "note", says: limit.aborted ? "no answer in time" : message };
  }
}
