// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import * as z from "zod";
import { emptyPlan, expectCode, expectVersion, seconds, succeed } from "../real/checks.ts";
import type { Programs } from "../real/programs.ts";

export interface Place {
  readonly region: string;
  /** The only account that Terraform may change. */
  readonly account: string;
  /** From where this is run. */
  readonly adminCidr: string;
  readonly burst: boolean;
}

const first = { talos: "v1.13.8", kubernetes: "1.36.2" };
const next = { talos: "v1.13.9", kubernetes: "1.36.3" };

/** The environment that the run makes, upgrades, scales and destroys. */
export function smokeEnvironment({ region, account, adminCidr, burst }: Place): object {
  const instanceType = "t3.medium";
  return {
    infrastructure: {
      kind: "aws",
      region,
      zones: 2,
      // A scaling pool needs private subnets, hence a NAT gateway; without one, none is paid for.
      ...(burst ? { access: "nlb", clusterAutoscaler: true } : { access: "public", trustOnFirstUse: true }),
      adminCidrs: [adminCidr],
      detailedMonitoring: false,
      cloudControllerManager: true,
      ebsCsi: true,
      provider: { allowedAccountIds: [account] },
      tags: { purpose: "talosmith-smoke" },
    },
    cluster: { talosVersion: first.talos, kubernetesVersion: first.kubernetes },
    controlPlane: { count: 1, instanceType },
    workers: [
      { name: "w", count: 1, instanceType },
      ...(burst ? [{ name: "burst", count: 1, scaling: { min: 1, max: 1 }, instanceType }] : []),
    ],
    backup: { directory: "backups" },
  };
}

export interface SmokeStep {
  readonly name: string;
  /** Returns what was seen, in one line; throws where it is something else. */
  readonly run: (programs: Programs) => Promise<string>;
}

/** The whole life, but for its end. */
export function smokeSteps({ burst }: Pick<Place, "burst">): readonly SmokeStep[] {
  const command =
    (...words: string[]) =>
    async (programs: Programs) =>
      seconds(await succeed(programs, ...words));
  return [
    { name: "deploy", run: command("deploy", "smoke", "--yes") },
    { name: "empty plan", run: emptyPlan },
    { name: "health", run: command("health", "smoke", "--wait-timeout", "10m") },
    { name: "a load balancer for a Service, a volume for a claim", run: loadBalancerAndVolume },
    ...(burst ? [{ name: "a machine of the scaling pool is found", run: burstRuns(first.talos) }] : []),
    {
      name: "upgrade Talos",
      run: async (programs) => {
        const took = await succeed(programs, "upgrade", "talos", "smoke", "--to", next.talos, "--yes");
        return `${seconds(took)}; ${await expectTalos(programs, next.talos)}`;
      },
    },
    ...(burst ? [{ name: "the machine of the scaling pool was upgraded", run: burstRuns(next.talos) }] : []),
    {
      name: "upgrade Kubernetes",
      run: async (programs) => {
        const took = await succeed(programs, "upgrade", "k8s", "smoke", "--to", next.kubernetes, "--yes");
        return `${seconds(took)}; ${await expectVersion(programs, next.kubernetes)}`;
      },
    },
    { name: "scale", run: command("scale", "smoke", "w", "--to", "2", "--yes") },
    {
      name: "backup create and verify",
      run: async (programs) => {
        const created = await succeed(programs, "backup", "create", "smoke");
        await succeed(programs, "backup", "verify", "smoke");
        return seconds(created);
      },
    },
    { name: "empty plan at the end", run: emptyPlan },
  ];
}

const objects = ["service/smoke", "pod/smoke", "persistentvolumeclaim/smoke"] as const;

/** What docs/aws.md tells people to apply. */
function workload(): string {
  const [, text] = /```yaml Kubernetes\n([^`]*)```/.exec(readFileSync("docs/aws.md", "utf8")) ?? [];
  if (text === undefined) throw new Error("docs/aws.md: found no block of Kubernetes objects");
  return text;
}

async function loadBalancerAndVolume(programs: Programs): Promise<string> {
  expectCode(await programs.kubectl(["apply", "-f", "-"], { stdin: workload() }), 0, "kubectl apply");
  const [service, pod, claim] = objects;
  const wait = async (object: string, condition: string) =>
    expectCode(
      await programs.kubectl(["wait", object, `--for=${condition}`, "--timeout=10m"]),
      0,
      `wait for ${object}`,
    );
  await wait(claim, "jsonpath={.status.phase}=Bound");
  await wait(pod, "condition=Ready");
  await wait(service, "jsonpath={.status.loadBalancer.ingress[0].hostname}");
  expectCode(await release(programs), 0, "kubectl delete");
  return "an address and a bound claim; both deleted";
}

/** Deletes what the cluster has made in AWS: Terraform does not know of it, and it keeps the network from being deleted. */
export function release(programs: Programs) {
  return programs.kubectl(["delete", ...objects, "--ignore-not-found", "--timeout=10m"]);
}

const statusSchema = z.object({
  machines: z.array(z.object({ name: z.string(), ready: z.boolean(), talos: z.string() })),
});

async function machinesOf(programs: Programs) {
  return statusSchema.parse(JSON.parse((await succeed(programs, "status", "smoke", "--json")).stdout)).machines;
}

async function expectTalos(programs: Programs, version: string): Promise<string> {
  const machines = await machinesOf(programs);
  const others = machines.filter(({ talos }) => talos !== version);
  if (others.length === 0) return `${machines.length} machines run ${version}`;
  throw new Error(`found ${others.map(({ name, talos }) => `${name} with ${talos}`).join(", ")}, expected ${version}`);
}

/** Machines of a group are named after their instance. */
const burstRuns = (version: string) => async (programs: Programs) => {
  const ready = ["wait", "nodes", "-l", "talosmith.internal/pool=burst", "--for=condition=Ready", "--timeout=10m"];
  expectCode(await programs.kubectl(ready), 0, "wait for a node of burst");
  const found = (await machinesOf(programs)).filter(({ name }) => name.startsWith("i-"));
  if (found.length === 1 && found[0]?.talos === version) return `${found[0].name} runs ${version}`;
  throw new Error(`machines of burst: found ${JSON.stringify(found)}, expected one with ${version}`);
};
