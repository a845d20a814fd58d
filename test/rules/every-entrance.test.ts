// SPDX-License-Identifier: Apache-2.0
// One validation, at every entrance: each rule of the environment is held by the file, the constructs, the provider and
// the engine, or the case says why an entrance cannot meet it. A rule without a case fails.
import { type TerraformStack, Testing } from "cdktn";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  AwsInfrastructure,
  ConstructInputError,
  DockerInfrastructure,
  type Infrastructure,
  LibvirtInfrastructure,
  MetalInfrastructure,
  SimulatedInfrastructure,
  TalosCluster,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { type ClusterSpec, desiredCluster, preflight } from "../../engine/index.ts";
import { settingRules, valueRules } from "../../model/cluster-rules.ts";
import { EnvironmentError, machinesOf, parseEnvironment } from "../../model/index.ts";
import { commonRules, rulesOfKind } from "../../model/rules/index.ts";
import { Server, schemaOf, type Value, validateConfig } from "../../provider/framework/index.ts";
import { talosmithProvider } from "../../provider/types/index.ts";
import { Contract, contractOf, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "../engine/fixture.ts";
import { type Case, commonCases, kindCases, settingCases, valueCases } from "./cases.ts";

type Props = Record<string, unknown>;
interface Parts {
  readonly infrastructure: Props & { readonly kind: string };
  readonly cluster?: Props;
  readonly controlPlane?: Props;
  readonly workers?: readonly Props[];
}

const files: Readonly<Record<string, string>> = {
  "environments/user-data.hbs": "x",
  "environments/other.yaml": "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n",
};

function faultsOfFile(data: object): readonly string[] {
  try {
    parseEnvironment("rules", (path) => (path === "environments/rules.yaml" ? stringify(data) : files[path]));
  } catch (error) {
    if (error instanceof EnvironmentError) return error.faults.map(({ path }) => path);
    throw error;
  }
  return [];
}

/** The same environment by constructs, to the end of the synth. */
function synthesized({ infrastructure: settings, cluster, controlPlane, workers = [] }: Parts, joins: boolean): void {
  const stack = new TalosStack(Testing.app(), "rules");
  const name = String(cluster?.name ?? "rules");
  const { kind, machines, docker, ...props } = settings as Props;
  const { trustOnFirstUse } = props;
  const id = "Infrastructure";
  const listed = Object.entries((machines ?? {}) as Record<string, Props>);
  const made: Readonly<Record<string, () => Infrastructure<object>>> = {
    simulated: () => new SimulatedInfrastructure(stack, id),
    aws: () => new AwsInfrastructure(stack, id, { ...props, clusterName: name } as never),
    libvirt: () => new LibvirtInfrastructure(stack, id, props as never),
    metal: () =>
      new MetalInfrastructure(stack, id, {
        ...props,
        machines: Object.fromEntries(listed.map(([key, { role: _, pool: _pool, ...own }]) => [key, own])),
      } as never),
    container: () =>
      new DockerInfrastructure(stack, id, { clusterName: name, trustOnFirstUse, ...(docker as Props) } as never),
  };
  const infrastructure = made[String(kind)]?.();
  if (infrastructure === undefined) throw new Error(`no constructs of ${kind}`);
  const names = (role: string) => listed.flatMap(([key, own]) => (own.role === role ? [key] : []));
  const pool = (own: Props | undefined, role: string) =>
    kind === "metal" ? { ...own, count: names(role).length, names: names(role) } : { count: 2, ...own };
  const talos = new TalosCluster<object>(stack, "Default", {
    name,
    ...cluster,
    infrastructure,
    controlPlane: joins
      ? { endpoint: "https://10.0.0.1:6443", addresses: ["10.0.0.1"] }
      : pool(controlPlane, "controlplane"),
  } as never);
  for (const { name: own = "w", ...more } of workers) new WorkerPool(talos, String(own), pool(more, "worker") as never);
  Testing.synth(stack as TerraformStack);
}

const server = new Server(
  talosmithProvider({ workingDirectory: "/nowhere", environment: {}, daemonCommand: ["node"] }),
  () => undefined,
) as Server;

const versions = { talosVersion: "v1.13.9", kubernetesVersion: "1.36.3" };

/** Names and roles as the file would have them. */
function machinesFor(data: Parts): readonly { name: string; role: "controlplane" | "worker"; address: string }[] {
  const listed = Object.entries((data.infrastructure.machines ?? {}) as Record<string, Props>);
  if (listed.length > 0)
    return listed.map(([name, { role, address }]) => ({ name, role: role as "worker", address: String(address) }));
  const plain = { kind: "simulated", name: "rules", cluster: { name: data.cluster?.name ?? "rules" } };
  const environment = { ...plain, controlPlane: { count: 1 }, workers: data.workers ?? [] };
  return machinesOf(environment as never).map(({ name, role }, index) => ({
    name,
    role,
    address: `10.1.0.${index + 1}`,
  }));
}

async function pathsOfProvider(data: Parts): Promise<readonly string[]> {
  const { cluster = {} } = data;
  const type = server.resource("talosmith_cluster");
  const nested = Object.keys(type.attributes.machines?.nested?.attributes ?? {});
  const machines = machinesFor(data).map(({ name, ...own }) => {
    const values: Readonly<Record<string, Value>> = own;
    return [name, Object.fromEntries(nested.map((key) => [key, values[key] ?? null]))] as const;
  });
  const attributes: Readonly<Record<string, unknown>> = {
    name: "rules",
    endpoint: "https://10.1.0.1:6443",
    talos_version: versions.talosVersion,
    kubernetes_version: cluster.kubernetesVersion ?? versions.kubernetesVersion,
    machines: Object.fromEntries(machines),
    dns_domain: cluster.domain,
    config_contract: cluster.configContract,
    previous_contract: cluster.previousContract,
    pod_subnets: cluster.podCidrs,
    service_subnets: cluster.serviceCidrs,
    additional_sans: cluster.certSans,
    kubespan: cluster.kubespan,
    discovery: cluster.discovery,
  };
  const names = Object.keys(schemaOf(type).attributes);
  const config = Object.fromEntries(names.map((name) => [name, (attributes[name] ?? null) as Value]));
  const found = await validateConfig(server, server.resource("talosmith_cluster"), config);
  return found.filter(({ severity }) => severity === "error").map(({ path }) => String(path));
}

function messageOfEngine(data: Parts): string {
  const { cluster = {} } = data;
  const spec = {
    name: "rules",
    endpoint: "https://10.1.0.1:6443",
    talosVersion: TalosVersion.parse(versions.talosVersion),
    kubernetesVersion: cluster.kubernetesVersion ?? versions.kubernetesVersion,
    machines: machinesFor(data),
    ...Object.fromEntries(
      Object.entries({
        dnsDomain: cluster.domain,
        podSubnets: cluster.podCidrs,
        serviceSubnets: cluster.serviceCidrs,
        additionalSans: cluster.certSans,
        kubespan: cluster.kubespan,
        discovery: cluster.discovery,
      }).filter(([, value]) => value !== undefined),
    ),
  } as Omit<ClusterSpec, "contract">;
  const nothing = { machines: new Map(), kubernetes: { kind: "unreachable", reason: "" } } as const;
  try {
    const contract = contractOf({ ...versions, ...cluster });
    const previous = cluster.previousContract;
    const migrated = previous === undefined ? {} : { previousContract: Contract.parse(String(previous)) };
    const found = preflight(desiredCluster({ ...spec, contract, ...migrated }, testSecrets()), nothing);
    return found.flatMap(({ severity, message }) => (severity === "error" ? [message] : [])).join("\n");
  } catch (error) {
    return (error as Error).message;
  }
}

function caseTest(name: string, { data, file, construct, provider, engine }: Case): void {
  const parts = data as unknown as Parts;
  describe(name, () => {
    test("in the file", () => expect(faultsOfFile(data)).toEqual([file]));
    if (typeof construct === "string")
      test("in the constructs", () => {
        let error: unknown;
        try {
          synthesized(parts, "controlPlaneRef" in data);
        } catch (caught) {
          error = caught;
        }
        expect(error).toBeInstanceOf(ConstructInputError);
        expect((error as ConstructInputError).path).toBe(construct);
        expect((error as Error).message).not.toContain("\n");
      });
    if (typeof provider === "string")
      test("in the provider", async () => expect(await pathsOfProvider(parts)).toEqual([provider]));
    if (typeof engine === "string") test("in the engine", () => expect(messageOfEngine(parts)).toContain(engine));
  });
}

function rulesTest(rules: object, cases: Readonly<Record<string, Case | "warning">>): void {
  test("each rule has a case", () => expect(Object.keys(cases).sort()).toEqual(Object.keys(rules).sort()));
  for (const [name, found] of Object.entries(cases)) if (found !== "warning") caseTest(name, found);
}

const everywhere = (cases: Readonly<Record<string, Case>>) =>
  test("each is held by every entrance", () => {
    for (const entrances of Object.values(cases))
      for (const key of ["construct", "provider", "engine"] as const)
        expect(entrances[key]).toEqual(expect.any(String));
  });

describe("values of a cluster", () => {
  rulesTest(valueRules, valueCases);
  everywhere(valueCases);
});
describe("settings of a cluster", () => {
  rulesTest(settingRules, settingCases);
  everywhere(settingCases);
});
describe("an environment of any kind", () => rulesTest(commonRules, commonCases));
for (const [kind, rules] of Object.entries(rulesOfKind))
  describe(`an environment of ${kind}`, () => rulesTest(rules, kindCases[kind] ?? {}));

test("what is right is taken by every entrance", async () => {
  const data = {
    infrastructure: { kind: "simulated" },
    cluster: { podCidrs: ["10.200.0.0/16"] },
    controlPlane: { count: 1 },
  };
  expect(faultsOfFile(data)).toEqual([]);
  synthesized(data, false);
  expect(await pathsOfProvider(data)).toEqual([]);
  expect(messageOfEngine(data)).toBe("");
});

test("a pool that scales needs private subnets, which a construct with public access does not make", () => {
  const infrastructure = {
    kind: "aws",
    region: "eu-central-1",
    access: "public",
    trustOnFirstUse: true,
    adminCidrs: ["203.0.113.7/32"],
  };
  const workers = [{ count: 1, scaling: { min: 1, max: 3 } }];
  expect(() => synthesized({ infrastructure, workers }, false)).toThrow(
    "rules/Default/w: found scaling without private",
  );
  synthesized({ infrastructure: { ...infrastructure, privateMachines: true }, workers }, false);
});

test("references of Terraform are not judged before they have a value", () => {
  const adminCidrs = ["${chomp(data.http.me.response_body)}/32"];
  const vpc = {
    id: "${aws_vpc.mine.id}",
    cidr: "10.0.0.0/16",
    publicSubnetIds: ["${a}"],
    privateSubnetIds: ["${b}"],
    natCidrs: ["${c}/32"],
  };
  synthesized({ infrastructure: { kind: "aws", region: "eu-central-1", zones: 1, adminCidrs, vpc } }, false);
});

test("base is no environment: its file is merged under every other", () => {
  expect(() => parseEnvironment("base", () => "infrastructure: { kind: simulated }\ncontrolPlane: {}\n")).toThrow(
    "base.yaml is merged under every environment",
  );
});
