// SPDX-License-Identifier: Apache-2.0
import { parseFault } from "../../simulator/control/index.ts";
import { type Environment, listEnvironments, loadEnvironment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { RunElsewhere, Workshop } from "../../web/server/index.ts";
import type { CommandContext } from "../context.ts";
import { stackDirectory } from "../terraform/prepare-stack.ts";
import { RunsElsewhere } from "../terraform/run-elsewhere.ts";
import { ownedByTerraform } from "../terraform/state-file.ts";
import { backupsView } from "./backups-view.ts";
import { clientCertificates } from "./client-files.ts";
import { writeFirstEnvironment } from "./environment-file.ts";
import { openCluster } from "./open-cluster.ts";
import { performAction, planAction } from "./page-actions.ts";
import { engineCare } from "./rollout.ts";
import { simulatedMachinesOf } from "./simulated-machines.ts";
import { projectSimulator } from "./simulator.ts";

/** The project as the web page's server needs it. */
export function projectWorkshop(root: string, context: CommandContext): Workshop {
  const runs = new RunsElsewhere();
  const elsewhere = ({ name }: Environment) => runs.look(stackDirectory(root, name));
  return {
    environmentNames: () => listEnvironments(root),
    loadEnvironment: (name) => loadEnvironment(root, name),
    async openCluster(environment) {
      try {
        return { ...(await openCluster(environment.name, context)), ...engineCare(environment) };
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    clientCertificates: ({ name }) => clientCertificates(root, name),
    backups: (environment, signal) => backupsView(root, environment, { ...context, signal }),
    async simulatedMachines(environment) {
      if (environment.kind !== "simulated") return undefined;
      const machines = await simulatedMachinesOf(root, environment);
      return machines.map(({ name, stage, faults }) => ({ name, stage, faults }));
    },
    elsewhere: async (environment) => elsewhere(environment),
    obstacle: (environment) => obstacleTo(root, environment, elsewhere(environment), context),
    plan: async (environment, action, signal) => {
      const steps = await planAction(root, environment, action, { ...context, signal });
      return steps.map(({ id, sentence, destructive }) => ({ id, sentence, destructive }));
    },
    perform: (environment, action, events, signal) =>
      performAction(root, environment, action, events, { ...context, signal }),
    async disturb(environment, name, disturbance) {
      const machine = (await simulatedMachinesOf(root, environment)).find((candidate) => candidate.name === name);
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
  run: RunElsewhere | undefined,
  { name: talosmith }: Pick<CommandContext, "name">,
): ReturnType<Workshop["obstacle"]> {
  const { name } = environment;
  try {
    if (!(await ownedByTerraform(root, environment))) {
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
