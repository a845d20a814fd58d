// SPDX-License-Identifier: Apache-2.0
// Every row of the tables of settings reaches the machine configs: from a file to the engine, from a file through
// Terraform's JSON to the provider, and from constructs through Terraform's JSON to the provider. A row that is dropped
// on one of the ways fails, and so does one that changes nothing.
import { readFileSync } from "node:fs";
import { Testing } from "cdktn";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  EnvironmentStack,
  evaluateStack,
  type JsonObject,
  MetalInfrastructure,
  TalosCluster,
  type TalosClusterProps,
  TalosStack,
  WorkerPool,
} from "../../constructs/index.ts";
import { type ClusterSpec, desiredCluster } from "../../engine/index.ts";
import { type Environment, parseEnvironment, patchFilesOf } from "../../model/index.ts";
import {
  argumentsOf,
  clusterSettings,
  fileRows,
  givenIn,
  isDefault,
  poolSettings,
  rolloutSettings,
  type Setting,
  withDefaults,
} from "../../model/settings/index.ts";
import { clusterAttributes } from "../../provider/types/cluster/attributes.ts";
import { policyOf, recordedCluster } from "../../provider/types/cluster/spec.ts";
import { settingPropsFile, settingPropsSource } from "../../scripts/setting-props.ts";
import { environmentSpec } from "../../workspace/cluster-spec.ts";
import { testSecrets } from "../engine/fixture.ts";

const secrets = testSecrets();
const machines = {
  "lab-cp": { address: "10.5.0.2", role: "controlplane" },
  "lab-w": { address: "10.5.0.3", role: "worker" },
};
const base = {
  cluster: { name: "lab", talosVersion: "v1.13.9" },
  infrastructure: { kind: "metal", machines, trustOnFirstUse: true },
  controlPlane: {},
};

/** A value of each form that is nobody's default, as a file has it. */
const texts: Readonly<Record<string, string>> = {
  name: "other",
  talosVersion: "v1.12.11",
  configContract: "v1.11",
  kubernetesVersion: "1.35.1",
  endpoint: "https://k8s.example.com:6443",
  dnsName: "k8s.example",
  cidr: "10.20.0.0/16",
  hostOrAddress: "k8s.example.com",
  url: "https://mirror.example",
  relativePath: "secrets/patch.yaml",
  labelValue: "front",
  taint: "gpu:NoSchedule",
};
const sections: Readonly<Record<string, unknown>> = {
  schematic: { extensions: ["siderolabs/iscsi-tools"] },
  airGap: { mirrors: { "docker.io": ["https://mirror.example"] }, imageCache: true },
  diskEncryption: { ephemeral: [{ tpm: {} }] },
  firewall: { nodes: ["10.5.0.0/24"], rules: [{ name: "web", ports: [443], from: ["0.0.0.0/0"], on: "worker" }] },
  patches: {
    all: [{ machine: { sysctls: { "net.core.somaxconn": "1" } } }],
    worker: ["machine: { sysctls: { a: b } }"],
    machines: { "lab-cp": [{ machine: { sysctls: { c: "d" } } }] },
  },
  patchList: [{ machine: { sysctls: { "vm.swappiness": "1" } } }],
};

function sample(row: Setting): unknown {
  const { type } = row;
  const text = texts[("form" in type && type.form) || ""] ?? "/dev/vdb";
  switch (type.kind) {
    case "flag":
      return row.default !== true;
    case "count":
      return 2;
    case "texts":
      return [text];
    case "textMap":
      return { "example.com/tier": text };
    case "textsMap":
      return { "docker.io": [text] };
    case "duration":
      return "90s";
    case "share":
      return "25%";
    case "cni":
      return { urls: ["https://example.com/cni.yaml"] };
    case "section":
      return sections[type.section ?? ""];
    case "object":
      return Object.fromEntries(fileRows(type.fields).map(([name, field]) => [name, sample(field)]));
    case "objects": {
      const [first] = type.oneOf ?? [];
      const fields = fileRows(type.fields).filter(([name]) => !type.oneOf?.includes(name) || name === first);
      return [Object.fromEntries(fields.map(([name, field]) => [name, sample(field)]))];
    }
    default:
      if (type.choices !== undefined) return type.choices.find((choice) => choice !== row.default);
      return type.form === "cron" ? "0 3 * * 6" : type.form === "timeZone" ? "Europe/Berlin" : text;
  }
}

const environmentOf = (data: object): Environment =>
  parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? stringify(data) : undefined));

/** Each machine's config, which files with further patches it has, and the contract that it may have had. */
type Made = Readonly<
  Record<
    string,
    { readonly config: string; readonly patchFiles: readonly string[]; readonly previousContract: string | undefined }
  >
>;

function made(spec: ClusterSpec, filesOf: (machine: string) => readonly string[]): Made {
  const desired = desiredCluster(spec, secrets);
  return Object.fromEntries(
    desired.machines.map(({ name, config }) => [
      name,
      { config: config.text, patchFiles: filesOf(name), previousContract: desired.previousContract?.toString() },
    ]),
  );
}

function byEngine(environment: Environment): Made {
  const addresses = new Map(Object.entries(machines).map(([name, { address }]) => [name, { address }]));
  return made(environmentSpec(environment, addresses), () => patchFilesOf(environment.cluster));
}

/** The attributes that Terraform gives the provider for this stack: all of them are known but ids. */
function attributesOf(stack: TalosStack): Readonly<Record<string, unknown>> {
  const resources = evaluateStack(stack.toTerraform() as JsonObject);
  const { machines: listed, ...given } = resources.find(({ type }) => type === "talosmith_cluster")?.values ?? {};
  expect(Object.keys(listed as object)).toEqual(Object.keys(machines));
  const filled = Object.entries(listed as Record<string, Record<string, unknown>>).map(([name, machine]) => {
    const { member_id: _m, hardware_id: _h, ...values } = machine;
    return [name, { ...nulls(machineAttributes), ...values }] as const;
  });
  const values = { ...given, machines: Object.fromEntries(filled) };
  // JSON leaves out what is unknown.
  expect(JSON.parse(JSON.stringify(values))).toEqual(values);
  return { ...nulls(Object.keys(clusterAttributes)), ...values };
}

const machineAttributes = Object.keys(clusterAttributes.machines.nested?.attributes ?? {});
const nulls = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));

async function byProvider(attributes: Readonly<Record<string, unknown>>): Promise<Made> {
  const rollout = attributes.rollout === null ? null : { ...nulls(rolloutNames), ...(attributes.rollout as object) };
  const recorded = await recordedCluster(JSON.stringify({ ...attributes, rollout: null, on_destroy: "reset" }));
  expect(rollout === null || Object.keys(rollout).length === rolloutNames.length).toBe(true);
  if (recorded === undefined) throw new Error("the stack has no cluster");
  return made(recorded.spec, (name) => recorded.patchFiles.get(name) ?? []);
}

const rolloutNames = Object.values(rolloutSettings).map(({ attribute }) => attribute);

const stackOf = (environment: Environment) => new EnvironmentStack(Testing.app(), environment);

/** The same cluster by constructs, from the values that the file's reader makes of the settings. */
function constructed(cluster: object, rollout: object, pools: object): TalosStack {
  const stack = new TalosStack(Testing.app(), "lab");
  const infrastructure = new MetalInfrastructure(stack, "Infrastructure", {
    machines: Object.fromEntries(Object.entries(machines).map(([name, { address }]) => [name, { address }])),
    trustOnFirstUse: true,
  } as unknown as ConstructorParameters<typeof MetalInfrastructure>[2]);
  const props = { name: "lab", talosVersion: "v1.13.9", ...cluster, rollout, infrastructure };
  const whole = new TalosCluster(stack, "Default", {
    ...props,
    controlPlane: { count: 1, names: ["lab-cp"], ...pools },
  } as unknown as TalosClusterProps<object>);
  new WorkerPool(whole, "w", { count: 1, names: ["lab-w"], ...pools });
  return stack;
}

const usual = byEngine(environmentOf(base));

describe("every setting of a cluster", () => {
  // Names and versions are more than a setting: the row's meaning is where it is required.
  test.each(fileRows(clusterSettings))("%s reaches the machine configs on all ways", async (key, row) => {
    const environment = environmentOf({ ...base, cluster: { ...base.cluster, [key]: sample(row) } });
    const engine = byEngine(environment);
    expect(await byProvider(attributesOf(stackOf(environment)))).toEqual(engine);
    const values: Readonly<Record<string, unknown>> = environment.cluster;
    expect(await byProvider(attributesOf(constructed({ [key]: values[key] }, {}, {})))).toEqual(engine);
    expect(engine).not.toEqual(usual);
  });
});

describe("every setting of a pool", () => {
  test.each(fileRows(poolSettings))("%s reaches the machine configs on all ways", async (key, row) => {
    const pool = { [key]: sample(row) };
    const environment = environmentOf({ ...base, controlPlane: pool, workers: [{ name: "w", ...pool }] });
    const engine = byEngine(environment);
    expect(await byProvider(attributesOf(stackOf(environment)))).toEqual(engine);
    const values: Readonly<Record<string, unknown>> = environment.workers[0] ?? {};
    expect(await byProvider(attributesOf(constructed({}, {}, { [key]: values[key] })))).toEqual(engine);
    expect(engine).not.toEqual(usual);
  });
});

describe("every setting of a rollout", () => {
  test.each(fileRows(rolloutSettings))("%s reaches the engine on all ways", (key, row) => {
    const environment = environmentOf({ ...base, rollout: { [key]: sample(row) } });
    const policy = environment.rollout;
    expect(policy).not.toEqual(environmentOf(base).rollout);
    const values: Readonly<Record<string, unknown>> = policy;
    for (const stack of [stackOf(environment), constructed({}, { [key]: values[key] }, {})]) {
      const { rollout } = attributesOf(stack);
      const state = { ...nulls(rolloutNames), ...(rollout as object) } as Parameters<typeof policyOf>[0]["rollout"];
      expect(policyOf({ rollout: state })).toEqual(policy);
    }
  });
});

describe("the tables", () => {
  const tables = { clusterSettings, poolSettings, rolloutSettings };
  test.each(Object.entries(tables))("%s: each sample differs from its default", (_, table) => {
    for (const [, row] of fileRows(table)) expect(isDefault(row, sample(row))).toBe(false);
  });

  test("no two rows have the same attribute", () => {
    for (const table of Object.values(tables)) {
      const names = Object.values<Setting>(table).flatMap(({ attribute }) => attribute ?? []);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test("arguments lead back to the values", () => {
    for (const [key, row] of fileRows(rolloutSettings)) {
      const { rollout } = environmentOf({ ...base, rollout: { [key]: sample(row) } });
      expect(withDefaults(rolloutSettings, givenIn(rolloutSettings, argumentsOf(rolloutSettings, rollout)))).toEqual(
        rollout,
      );
    }
  });

  test("what is generated from them is up to date: npm run generate:settings", () => {
    // The formatter decides on lines, brackets and the first bar of a union.
    const plain = (text: string) => text.replace(/[\s|()]/g, "");
    expect(plain(readFileSync(settingPropsFile, "utf8"))).toBe(plain(settingPropsSource()));
  });
});
