// SPDX-License-Identifier: Apache-2.0
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  emptyPlan,
  expectCode,
  expectSize,
  expectText,
  expectVersion,
  lastLines,
  newServiceAnswers,
  runningVersions,
  seconds,
  succeed,
} from "./checks.ts";
import { type Cluster, type LabName, noMachines } from "./lab.ts";
import { budget, configMap, deployment, type Project } from "./project.ts";

export interface Operation {
  readonly name: string;
  /** An operation that must have succeeded before; it runs too where only this one is asked for. */
  readonly needs?: string;
  /** A program that it needs on the PATH. */
  readonly program?: string;
  /** Where it can be run; default: everywhere. */
  readonly labs?: readonly LabName[];
  /** Returns the proof in one line; throws where the result is another one. */
  readonly run: (project: Project) => Promise<string>;
}

const deploy = "deploy without Terraform";
const upgrade = "upgrade Kubernetes by a patch version";
const broken = "a component of the new version never becomes ready";
const scaled = "add a worker";
const threeControlPlanes = "scale from one control plane to three";
const terraformDeploy = "deploy through Terraform";
const destroyed = "destroy without Terraform";

/** What a Service shows, where pods have a network. */
const serviceAnswer = async (project: Project, name: string) =>
  project.lab.name === "real" ? `; a Service made afterwards ${await newServiceAnswers(project, name)}` : "";

interface KilledChange {
  readonly change: (cluster: Cluster) => Partial<Cluster>;
  /** Seconds. A kill comes before. */
  readonly longest: number;
}
const randomlyKilled: readonly KilledChange[] = [
  { change: ({ sysctl }) => ({ sysctl: sysctl + 1 }), longest: 4 },
  { change: ({ workers }) => ({ workers: workers + 1 }), longest: 12 },
  { change: ({ sysctl }) => ({ sysctl: sysctl + 1 }), longest: 4 },
  { change: ({ workers }) => ({ workers: workers - 1 }), longest: 40 },
];

/** Kills the command up to three times. Returns how often that interrupted it: one that has ended is not run again. */
async function killedRuns(project: Project, longest: number): Promise<number> {
  for (let kills = 0; kills < 3; kills++) {
    const killAfter = randomInt(200, Math.max(201, Math.round(longest * 1000))) / 1000;
    const { code, said } = await project.talosmith(["up", "trial", "-y"], { killAfter });
    if (code === 0) return kills;
    if (code !== null) throw new Error(`up after ${kills} kills: exit code ${code}\n${lastLines(said)}`);
  }
  return 3;
}

export const operations: readonly Operation[] = [
  {
    name: deploy,
    program: "kubectl",
    run: async (project) => {
      project.write({});
      const up = await succeed(project, "up", "trial", "-y");
      return `1 control plane and 1 worker, ${seconds(up)}; ${await expectVersion(project, project.cluster.kubernetes)}`;
    },
  },
  { name: "empty plan after the deploy", needs: deploy, run: emptyPlan },
  {
    name: "health",
    needs: deploy,
    run: async (project) => {
      const health = await succeed(project, "health", "trial", "--wait-timeout", "5m");
      if (/\bSKIP\b/.test(health.said)) throw new Error(`a check was skipped\n${lastLines(health.said)}`);
      return `every check passes, none is skipped (${seconds(health)})`;
    },
  },
  {
    name: "a new Service answers on every node",
    needs: deploy,
    labs: ["real"],
    run: (project) => newServiceAnswers(project, "first"),
  },
  {
    name: "change a config without a reboot",
    needs: deploy,
    run: async (project) => {
      project.write({ sysctl: project.cluster.sysctl + 1 });
      expectCode(await project.talosmith(["plan", "trial"]), 2, "plan trial");
      const up = await succeed(project, "up", "trial", "-y");
      return `plan exits with 2, up takes ${seconds(up)}, then: ${await emptyPlan(project)}`;
    },
  },
  {
    name: "backup create, verify and drill",
    needs: deploy,
    run: async (project) => {
      const created = await succeed(project, "backup", "create", "trial");
      await succeed(project, "backup", "verify", "trial");
      const drill = await succeed(project, "backup", "drill", "trial");
      return `backup ${seconds(created)}, drill ${seconds(drill)}, each with exit code 0`;
    },
  },
  {
    name: scaled,
    needs: deploy,
    run: async (project) => {
      project.write({ workers: 2 });
      const up = await succeed(project, "up", "trial", "-y");
      return `${seconds(up)}; ${await expectSize(project)}`;
    },
  },
  {
    name: "remove a worker; a PodDisruptionBudget holds the drain up",
    needs: scaled,
    run: async (project) => {
      const node = project.lab.machines.worker(2);
      expectCode(await project.apply(deployment("guarded", node), budget("guarded")), 0, "kubectl apply");
      const ready = ["rollout", "status", "deployment/guarded", "--timeout=300s"];
      expectCode(await project.kubectl(ready), 0, "kubectl rollout status");
      project.writeFile({ workers: 1 });
      const held = expectCode(await project.talosmith(["up", "trial", "-y"]), 1, "up trial under a budget");
      const reason = expectText(held, /a disruption budget keeps pod [\w/-]+/, "up trial under a budget");
      expectCode(await project.kubectl(["delete", "pdb", "guarded"]), 0, "kubectl delete");
      const up = await succeed(project, "up", "trial", "-y");
      project.lab.power(project.cluster);
      return `refused after ${seconds(held)} ("${reason}"); without the budget removed in ${seconds(up)}; ${await expectSize(project)}`;
    },
  },
  {
    name: threeControlPlanes,
    needs: deploy,
    run: async (project) => {
      project.write({ controlPlanes: 3 });
      const up = await succeed(project, "up", "trial", "-y");
      return `${seconds(up)}; ${await expectSize(project)}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "scale from three control planes back to one",
    needs: threeControlPlanes,
    run: async (project) => {
      project.writeFile({ controlPlanes: 1 });
      const up = await succeed(project, "up", "trial", "-y");
      project.lab.power(project.cluster);
      return `${seconds(up)}; ${await expectSize(project)}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "restore a backup on wiped machines",
    needs: deploy,
    run: async (project) => {
      expectCode(await project.apply(configMap("in-the-backup")), 0, "kubectl apply");
      await succeed(project, "backup", "create", "trial");
      expectCode(await project.apply(configMap("after-the-backup")), 0, "kubectl apply");
      const wiping = project.lab.wipe(project.cluster);
      if (wiping.length > 0) await succeed(project, ...wiping);
      const restored = await succeed(project, "restore", "trial", "--from", "latest", "-y");
      expectCode(await project.kubectl(["get", "configmap", "in-the-backup"]), 0, "kubectl get configmap");
      expectCode(await project.kubectl(["get", "configmap", "after-the-backup"]), 1, "kubectl get configmap");
      await succeed(project, "health", "trial", "--wait-timeout", "5m");
      return `${seconds(restored)}; a ConfigMap of the backup is there, a later one is not; every health check passes; ${await emptyPlan(project)}${await serviceAnswer(project, "restored")}`;
    },
  },
  {
    name: "rotate the CAs",
    needs: deploy,
    run: async (project) => {
      const fingerprint = () => project.kubectl(["config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster}"]);
      const before = await fingerprint();
      const ended = await succeed(project, "rotate-ca", "trial", "--dry-run=false", "-y");
      if ((await fingerprint()).stdout === before.stdout) throw new Error("the kubeconfig has the CA that it had");
      await succeed(project, "health", "trial", "--wait-timeout", "5m");
      return `${seconds(ended)}; the kubeconfig has another CA; every health check passes; ${await emptyPlan(project)}${await serviceAnswer(project, "rotated")}`;
    },
  },
  {
    name: "operate repairs a config that was changed behind its back",
    needs: deploy,
    run: async (project) => {
      const machine = project.lab.machines.worker(1);
      expectCode(await project.changeBehindTheBack(machine), 0, `apply to ${machine}`);
      expectCode(await project.talosmith(["plan", "trial"]), 2, "plan trial");
      const endAt = { text: /the machines are what the file says/, signal: "SIGTERM" } as const;
      const operated = await project.talosmith(["operate", "trial", "--repair"], { endAt });
      expectText(operated, endAt.text, "operate trial --repair");
      return `repaired and ended after ${seconds(operated)}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "kill -9 at random moments, then the same command again",
    needs: deploy,
    run: async (project) => {
      let kills = 0;
      let reach = 1;
      for (const { change, longest } of randomlyKilled) {
        const next = change(project.cluster);
        const grows = (next.workers ?? 0) > project.cluster.workers;
        if (grows) project.write(next);
        else project.writeFile(next);
        const killed = await killedRuns(project, longest * reach);
        kills += killed;
        // A lab is as fast as it is: where a command had ended before its kill, the next is killed sooner.
        if (killed === 0) reach /= 2;
        await succeed(project, "up", "trial", "-y");
        project.lab.power(project.cluster);
        await expectSize(project);
        await emptyPlan(project);
      }
      if (kills === 0) throw new Error("no kill interrupted a command");
      return `${kills} runs of ${randomlyKilled.length} changes were killed; the next run of each ended with 0 and left an empty plan`;
    },
  },
  {
    name: "install an add-on by helm",
    program: "helm",
    needs: deploy,
    run: async (project) => {
      project.writeFile({ addon: true });
      const up = await succeed(project, "up", "trial", "-y");
      const ready = ["get", "deployment", "-n", "apps", "app-of-chart", "-o", "jsonpath={.status.readyReplicas}"];
      if ((await project.kubectl(ready)).stdout !== "1") throw new Error("the pod of the chart is not ready");
      return `${seconds(up)}, its pod is ready; ${await emptyPlan(project)}`;
    },
  },
  {
    name: broken,
    needs: deploy,
    run: async (project) => {
      const fault = project.lab.breakComponent("kube-controller-manager", "v1.36.5");
      if (fault.length > 0) await succeed(project, ...fault);
      const text = /kube-controller-manager[^\n]*\bready[^\n]*\(\d+ s\)/;
      const endAt = { text, signal: "SIGKILL" } as const;
      const first = await project.talosmith(["upgrade", "k8s", "trial", "--to", "1.36.5", "-y"], { endAt });
      project.writeFile({ kubernetes: "1.36.5" });
      const wait = expectText(first, text, "upgrade k8s");
      const versions = await runningVersions(project);
      if (/(kube-scheduler|kubelet):v1\.36\.5/.test(versions)) throw new Error(`the upgrade went on: ${versions}`);
      expectCode(await project.talosmith(["health", "trial", "--wait-timeout", "10s"]), 1, "health");
      return `the upgrade waits ("${wait}"); kube-scheduler and kubelets keep their version`;
    },
  },
  {
    name: "go back to the patch version before",
    needs: broken,
    run: async (project) => {
      project.writeFile({ kubernetes: "1.36.1" });
      const plan = expectCode(await project.talosmith(["plan", "trial"]), 2, "plan trial");
      const up = await succeed(project, "up", "trial", "-y");
      const shown = expectText(plan, /^.*1\.36\.5.*$/m, "plan");
      return `plan shows "${shown}", up takes ${seconds(up)}; ${await expectVersion(project, "1.36.1")}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: upgrade,
    needs: deploy,
    run: async (project) => {
      const ended = await succeed(project, "upgrade", "k8s", "trial", "--to", "1.36.3", "-y");
      project.writeFile({ kubernetes: "1.36.3" });
      return `1.36.1 to 1.36.3 in ${seconds(ended)}; ${await expectVersion(project, "1.36.3")}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "SIGKILL in the middle of a version change, then the same command again",
    needs: upgrade,
    run: async (project) => {
      project.writeFile({ kubernetes: "1.36.1" });
      const killed = await project.talosmith(["up", "trial", "-y"], {
        endAt: { text: /changing the image of kube-controller-manager/, signal: "SIGKILL" },
      });
      if (killed.code !== null)
        throw new Error(`it ended before the kill, with ${killed.code}\n${lastLines(killed.said)}`);
      const up = await succeed(project, "up", "trial", "-y");
      return `killed after ${seconds(killed)}, the next run takes ${seconds(up)}; ${await expectVersion(project, "1.36.1")}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: destroyed,
    needs: deploy,
    run: async (project) => {
      const ended = await succeed(project, "destroy", "trial", "-y");
      if (existsSync(join(project.root, "generated/trial/kubeconfig"))) throw new Error("the kubeconfig is left");
      // A machine of the real lab does not outlive its reset.
      project.lab.power(noMachines);
      return seconds(ended);
    },
  },
  {
    name: terraformDeploy,
    needs: destroyed,
    program: "terraform",
    run: async (project) => {
      project.write({ kubernetes: "1.36.1", addon: false });
      const ended = await succeed(project, "deploy", "trial", "-y");
      if (!existsSync(join(project.root, "cdktf.out")))
        throw new Error("terraform was not used: it is not on the PATH");
      return `${seconds(ended)}; ${await expectVersion(project, "1.36.1")}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "destroy through Terraform",
    needs: terraformDeploy,
    run: async (project) => seconds(await succeed(project, "destroy", "trial", "-y")),
  },
];

/** The operations whose names have one of the words, with those that they need, in their order. */
export function chosenOperations(labName: LabName, words: readonly string[] = []): readonly Operation[] {
  const here = operations.filter((each) => each.labs?.includes(labName) ?? true);
  const wanted = new Set(here.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word))));
  if (wanted.size === 0)
    throw new Error(
      `--only: found ${words.join(", ")}, expected a part of a name: ${here.map(({ name }) => name).join(", ")}`,
    );
  for (let size = 0; size < wanted.size; ) {
    size = wanted.size;
    for (const { needs } of [...wanted]) for (const each of here) if (each.name === needs) wanted.add(each);
  }
  return here.filter((each) => wanted.has(each));
}
