// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabName } from "./lab.ts";
import { budget, deployment, type Ended, type Project, service } from "./project.ts";

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

const seconds = ({ seconds: took }: Ended) => `${took.toFixed(0)} s`;
const lastLines = (said: string) => said.trimEnd().split("\n").slice(-12).join("\n");

/** Throws with what was printed where the exit code is another one. */
function expectCode(ended: Ended, code: number, what: string): Ended {
  if (ended.code === code) return ended;
  const how = ended.code === null ? "ended by a signal" : `exit code ${ended.code}`;
  const last = ended.said.trimEnd().split("\n").at(-1) ?? "";
  throw new Error(`${what}: ${how}, expected exit code ${code}; last line: ${last}\n${lastLines(ended.said)}`);
}

function expectText(ended: Ended, text: RegExp, what: string): string {
  const [found] = text.exec(ended.said) ?? [];
  if (found !== undefined) return found.trim();
  throw new Error(`${what}: ${text} was not printed\n${lastLines(ended.said)}`);
}

const succeed = async (project: Project, ...words: string[]) =>
  expectCode(await project.talosmith(words), 0, words.join(" "));
const emptyPlan = async (project: Project): Promise<string> => {
  const plan = await succeed(project, "plan", "trial");
  return `${expectText(plan, /Nothing to change\.|No changes\./, "plan")} (${seconds(plan)})`;
};

/** The Kubernetes versions of control plane components and kubelets that run, sorted. */
async function runningVersions(project: Project): Promise<string> {
  const pods = await project.kubectl([
    ...["get", "pods", "-n", "kube-system", "-l", "tier=control-plane"],
    ...["-o", "jsonpath={range .items[*]}{.spec.containers[0].image}{'\\n'}{end}"],
  ]);
  const nodes = await project.kubectl([
    ...["get", "nodes", "-o", "jsonpath={range .items[*]}kubelet:{.status.nodeInfo.kubeletVersion}{'\\n'}{end}"],
  ]);
  const all = `${expectCode(pods, 0, "get pods").stdout}${expectCode(nodes, 0, "get nodes").stdout}`;
  return [
    ...new Set(
      all
        .trim()
        .split("\n")
        .map((line) => line.replace(/^.*\//, "")),
    ),
  ]
    .sort()
    .join(", ");
}

async function expectVersion(project: Project, version: string): Promise<string> {
  const found = await runningVersions(project);
  if (found.split(", ").every((each) => each.endsWith(`:v${version}`))) return found;
  throw new Error(`versions that run: found ${found}, expected ${version} everywhere`);
}

/** A new Service answers on every node: its pod is ready, and each kube-proxy has made the rules of its node port. */
async function newServiceAnswers(project: Project, name: string): Promise<string> {
  expectCode(await project.apply(deployment(name), service(name)), 0, "kubectl apply");
  const ready = ["rollout", "status", `deployment/${name}`, "--timeout=300s"];
  expectCode(await project.kubectl(ready), 0, "kubectl rollout status");
  const portOf = ["get", "service", name, "-o", "jsonpath={.spec.ports[0].nodePort}"];
  const port = expectCode(await project.kubectl(portOf), 0, "kubectl get service").stdout;
  const addressesOf = "jsonpath={.items[*].status.addresses[?(@.type=='InternalIP')].address}";
  const nodes = expectCode(await project.kubectl(["get", "nodes", "-o", addressesOf]), 0, "kubectl get nodes");
  const addresses = nodes.stdout.trim().split(" ");
  for (const address of addresses) await answers(project, `http://${address}:${port}/`);
  return `answers on ${addresses.length} nodes`;
}

const request = "fetch(process.argv[1], { signal: AbortSignal.timeout(3000) }).then((a) => a.text()).then(console.log)";

async function answers(project: Project, url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const ended = await project.run([process.execPath, "-e", request, url]);
    if (ended.code === 0 && ended.stdout.includes("OK")) return;
    if (performance.now() > deadline) throw new Error(`${url} does not answer\n${lastLines(ended.said)}`);
    await sleep(1000);
  }
}

const deploy = "deploy without Terraform";
const upgrade = "upgrade Kubernetes by a patch version";
const broken = "a component of the new version never becomes ready";
const scaled = "add a worker";
const terraformDeploy = "deploy through Terraform";
const destroyed = "destroy without Terraform";

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
      const nodes = await project.kubectl(["get", "nodes", "-o", "name"]);
      return `${seconds(up)}; ${expectCode(nodes, 0, "get nodes").stdout.trim().split("\n").length} nodes`;
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
      project.lab.power(1);
      return `refused after ${seconds(held)} ("${reason}"); without the budget removed in ${seconds(up)}`;
    },
  },
  {
    name: "rotate the CAs; a new Service answers afterwards",
    needs: deploy,
    labs: ["real"],
    run: async (project) => {
      const ended = await succeed(project, "rotate-ca", "trial", "--dry-run=false", "-y");
      return `${seconds(ended)}; a Service made afterwards ${await newServiceAnswers(project, "rotated")}; ${await emptyPlan(project)}`;
    },
  },
  {
    name: "install an add-on by helm",
    program: "helm",
    needs: deploy,
    labs: ["real"],
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
      const killAt = /kube-controller-manager[^\n]*\bready[^\n]*\(\d+ s\)/;
      const first = await project.talosmith(["upgrade", "k8s", "trial", "--to", "1.36.5", "-y"], { killAt });
      project.writeFile({ kubernetes: "1.36.5" });
      const wait = expectText(first, killAt, "upgrade k8s");
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
        killAt: /kube-controller-manager gets its new version/,
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
      return seconds(ended);
    },
  },
  {
    name: terraformDeploy,
    needs: destroyed,
    program: "terraform",
    run: async (project) => {
      project.writeFile({ kubernetes: "1.36.1", workers: 1, addon: false });
      project.lab.renew(1);
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
