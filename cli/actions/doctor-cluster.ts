// SPDX-License-Identifier: Apache-2.0
import { connect } from "node:net";
import { type DesiredMachine, type Machines, talosMachines } from "../../engine/index.ts";
import { endsSoon } from "../../talos/client-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { ageOf } from "../../workspace/amounts.ts";
import { type DeployedCluster, openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import type { Finding } from "./doctor-finding.ts";

/** From here on certificates and tokens of one machine are refused by another. */
const tolerated = 60_000;
/** A port that is closed by a firewall answers nothing at all. */
const patience = 5_000;
const atOnce = 16;

/** What a cluster that was deployed shows from this computer: client files, open ports, certificates, clocks. */
export async function clusterFindings(name: string, context: CommandContext): Promise<readonly Finding[]> {
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
    const looks = [...cluster.desired.machines];
    const found: Finding[] = [];
    const lane = async () => {
      for (let machine = looks.shift(); machine !== undefined; machine = looks.shift())
        found.push(await machineFinding(name, machine, machines, context));
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
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
