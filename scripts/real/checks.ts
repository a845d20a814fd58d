// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Ended, Programs } from "./programs.ts";
import { deployment, type Project, service } from "./project.ts";

export const seconds = ({ seconds: took }: Ended) => `${took.toFixed(0)} s`;
export const lastLines = (said: string) => said.trimEnd().split("\n").slice(-12).join("\n");

/** Throws with what was printed where the exit code is another one. */
export function expectCode(ended: Ended, code: number, what: string): Ended {
  if (ended.code === code) return ended;
  const how = ended.code === null ? "ended by a signal" : `exit code ${ended.code}`;
  const last = ended.said.trimEnd().split("\n").at(-1) ?? "";
  throw new Error(`${what}: ${how}, expected exit code ${code}; last line: ${last}\n${lastLines(ended.said)}`);
}

export function expectText(ended: Ended, text: RegExp, what: string): string {
  const [found] = text.exec(ended.said) ?? [];
  if (found !== undefined) return found.trim();
  throw new Error(`${what}: ${text} was not printed\n${lastLines(ended.said)}`);
}

export const succeed = async (project: Programs, ...words: string[]) =>
  expectCode(await project.talosmith(words), 0, words.join(" "));
export const emptyPlan = async (project: Programs): Promise<string> => {
  const plan = await succeed(project, "plan", project.name);
  return `${expectText(plan, /Nothing to change\.|No changes\./, "plan")} (${seconds(plan)})`;
};

/** The Kubernetes versions of control plane components and kubelets that run, sorted. */
export async function runningVersions(project: Programs): Promise<string> {
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

export async function expectVersion(project: Programs, version: string): Promise<string> {
  const found = await runningVersions(project);
  if (found.split(", ").every((each) => each.endsWith(`:v${version}`))) return found;
  throw new Error(`versions that run: found ${found}, expected ${version} everywhere`);
}

/** A new Service answers on every node: its pod is ready, and each kube-proxy has made the rules of its node port. */
export async function newServiceAnswers(project: Project, name: string): Promise<string> {
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

/** Nodes are ready and etcd has as many members as the file has machines. */
export async function expectSize(project: Project): Promise<string> {
  const { controlPlanes, workers } = project.cluster;
  const ready = ["wait", "nodes", "--all", "--for=condition=Ready", "--timeout=300s"];
  expectCode(await project.kubectl(ready), 0, "kubectl wait nodes");
  const listed = expectCode(await project.kubectl(["get", "nodes", "-o", "name"]), 0, "kubectl get nodes");
  const nodes = listed.stdout.trim().split("\n").length;
  const printed = (await succeed(project, "etcd", "members", "-e", "trial", "--json")).stdout;
  const { members } = z.object({ members: z.array(z.unknown()) }).parse(JSON.parse(printed));
  const found = `${nodes} ready nodes and ${members.length} etcd members`;
  const expected = `${controlPlanes + workers} ready nodes and ${controlPlanes} etcd members`;
  if (found !== expected) throw new Error(`found ${found}, expected ${expected}`);
  return found;
}
