// SPDX-License-Identifier: Apache-2.0

import { type Environment, listEnvironments, loadEnvironment } from "../../model/index.ts";
import { parseFault } from "../../simulator/control/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { WorkspaceContext } from "../../workspace/context.ts";
import { writeFirstEnvironment } from "../../workspace/environment-file.ts";
import { simulatedMachinesOf } from "../../workspace/simulated-machines.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import type { OtherRun } from "../../workspace/terraform/other-runs.ts";
import { OtherRuns } from "../../workspace/terraform/other-runs.ts";
import { stackDirectory } from "../../workspace/terraform/prepare-stack.ts";
import { ownedByTerraform } from "../../workspace/terraform/state-file.ts";
import { Workspace } from "../../workspace/workspace.ts";
import { backupsView } from "./backups-view.ts";
import type { ConsoleProject } from "./project.ts";
import { performAction, planAction } from "./project-actions.ts";

export interface ConsoleContext extends WorkspaceContext {
  /** How the user types the command's name. */
  readonly name: string;
}

/** The project on disk, for the web console. */
export function openConsoleProject(root: string, context: ConsoleContext): ConsoleProject {
  const runs = new OtherRuns();
  const workspaceOf = (environment: Environment, signal = context.signal) =>
    new Workspace({ root, environment, context: { ...context, signal } });
  const elsewhere = ({ name }: Environment) => runs.look(stackDirectory(root, name));
  return {
    environmentNames: () => listEnvironments(root),
    loadEnvironment: (name) => loadEnvironment(root, name),
    async openCluster(environment) {
      try {
        const workspace = workspaceOf(environment);
        return { ...(await workspace.deployed()), policy: workspace.policy() };
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    clientCertificates: (environment) => workspaceOf(environment).clientFiles.certificates(),
    backups: (environment, signal) => backupsView(workspaceOf(environment, signal)),
    async simulatedMachines(environment) {
      if (environment.kind !== "simulated") return undefined;
      const machines = await simulatedMachinesOf({ root, environment });
      return machines.map(({ name, stage, faults }) => ({ name, stage, faults }));
    },
    elsewhere: async (environment) => elsewhere(environment),
    obstacle: (environment) => obstacleTo(root, environment, elsewhere(environment), context),
    plan: async (environment, action, signal) => {
      const steps = await planAction(workspaceOf(environment, signal), action);
      return steps.map(({ id, sentence, destructive }) => ({ id, sentence, destructive }));
    },
    perform: (environment, action, events, signal) => performAction(workspaceOf(environment, signal), action, events),
    async disturb(environment, name, disturbance) {
      const machine = (await simulatedMachinesOf({ root, environment })).find((candidate) => candidate.name === name);
      if (machine === undefined) throw new TalosError("not-found", `no simulated machine is called ${name}`);
      const simulator = projectSimulator(root);
      if ("power" in disturbance) await simulator.setPower(machine.id, disturbance.power);
      else await simulator.setFaults(machine.id, disturbance.fault === null ? [] : [parseFault(disturbance.fault)]);
    },
    async createSimulated({ name, controlPlanes, workers }) {
      await writeFirstEnvironment(root, name, { kind: "simulated", controlPlanes, workers });
    },
  };
}

/** Two owners of one cluster would undo each other's work: what Terraform made is changed through it. */
async function obstacleTo(
  root: string,
  environment: Environment,
  run: OtherRun | undefined,
  { name: talosmith }: Pick<ConsoleContext, "name">,
): ReturnType<ConsoleProject["obstacle"]> {
  const { name } = environment;
  try {
    if (!(await ownedByTerraform({ root, environment }))) {
      // Its first run owns it as soon as it has written a state.
      if (run === undefined || run.end !== null) return undefined;
      return { reason: `Terraform is at work on ${name}: wait until it has ended.`, instead: null };
    }
  } catch (error) {
    const { message, hint } = TalosError.from(error);
    return { reason: [message, hint].filter((part) => part !== undefined).join(" "), instead: null };
  }
  return {
    reason: `The machines of ${name} are made by Terraform: this page looks after them, and Terraform changes them.`,
    instead: {
      apply: `${talosmith} deploy ${name}`,
      upgrade: `${talosmith} upgrade talos ${name} --to <version> --write-only && ${talosmith} deploy ${name}`,
      scale: `change the count in environments/${name}.yaml, then ${talosmith} deploy ${name}`,
      destroy: `${talosmith} destroy ${name}`,
    },
  };
}
