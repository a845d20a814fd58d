// SPDX-License-Identifier: Apache-2.0
// What the provider says of a configuration by itself: before any secret is read and any machine is asked.
import { describe, expect, test } from "vitest";
import {
  type Diagnostic,
  type ObjectValue,
  Server,
  schemaOf,
  unknown,
  type Value,
  validateConfig,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";

const provider = talosmithProvider({ workingDirectory: "/nowhere", environment: {}, daemonCommand: ["node"] });
const server = new Server(provider, () => undefined) as Server;

type Values = Readonly<Record<string, Value>>;

function whole(schema: Parameters<typeof schemaOf>[0], values: Values): ObjectValue {
  const names = Object.keys(schemaOf(schema).attributes);
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

const ofResource = (type: string, values: Values) =>
  validateConfig(server, server.resource(type), whole(server.resource(type), values));
const ofData = (type: string, values: Values) =>
  validateConfig(server, server.dataSource(type), whole(server.dataSource(type), values));
const ofEphemeral = (type: string, values: Values) =>
  validateConfig(server, server.ephemeralResource(type), whole(server.ephemeralResource(type), values));

const brief = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.map(({ severity, summary, path }) => `${severity} ${path}: ${summary}`);

describe("a value that is not known yet", () => {
  test("is not taken for one that is given: one of the provider's two sources may turn out to be null", async () => {
    const both = whole(provider, { secrets: unknown, secrets_file: unknown });
    expect(await validateConfig(server, server.provider, both)).toEqual([]);
    const given = whole(provider, { secrets: "cluster: {}", secrets_file: "secrets.yaml" });
    expect(brief(await validateConfig(server, server.provider, given))).toEqual([
      "error secrets: Two sources of secrets",
    ]);
  });

  test("is not taken for one that is given: a seed's user data may turn out to be null", async () => {
    const values = { path: "seed.iso", meta_data: "", network_config: unknown, user_data: unknown };
    expect(await ofResource("talosmith_cloud_init", { ...values, machine_config: unknown })).toEqual([]);
  });

  test("is not taken for a control plane of another stack", async () => {
    const machine = { role: "controlplane", address: "10.0.0.1" };
    const values = {
      name: "demo",
      endpoint: "https://10.0.0.1:6443",
      talos_version: "v1.13.9",
      kubernetes_version: "1.36.3",
      machines: { "demo-cp-1": whole({ description: "", attributes: machineAttributes() }, machine) },
    };
    expect(await ofResource("talosmith_cluster", { ...values, join: unknown })).toEqual([]);
    const join = { control_planes: ["10.0.0.9"] };
    expect(brief(await ofResource("talosmith_cluster", { ...values, join }))).toEqual([
      "error machines: Control planes of two stacks",
    ]);
  });
});

function machineAttributes() {
  return server.resource("talosmith_cluster").attributes.machines?.nested?.attributes ?? {};
}

describe("a value that is none of those which are allowed", () => {
  const machines = (role: string) => ({ "demo-cp-1": { role, address: "10.0.0.1" } });

  test.each<[string, () => Promise<readonly Diagnostic[]>, string]>([
    [
      "a role to look at",
      () => ofData("talosmith_health", { endpoint: "https://10.0.0.1:6443", machines: machines("boss") }),
      'error machines["demo-cp-1"].role: Unknown value',
    ],
    [
      "a platform",
      () => ofData("talosmith_schematic", { talos_version: "v1.13.9", platform: "vax" }),
      "error platform: Unknown value",
    ],
    [
      "the role of a config",
      () =>
        ofData("talosmith_machine_config", {
          name: "demo",
          endpoint: "https://10.0.0.1:6443",
          talos_version: "v1.13.9",
          kubernetes_version: "1.36.3",
          role: "boss",
        }),
      "error role: Unknown value",
    ],
    [
      "an end of a membership",
      () => ofResource("talosmith_member", { name: "a", cluster: "b", machine_id: "c", address: "d", on_destroy: "x" }),
      "error on_destroy: Unknown value",
    ],
    [
      "an age of a backup",
      () =>
        ofResource("talosmith_etcd_snapshot", { cluster_name: "a", endpoints: ["b"], directory: "c", max_age: "old" }),
      "error max_age: Not a duration",
    ],
    [
      "a lifetime",
      () => ofEphemeral("talosmith_talosconfig", { cluster_name: "a", endpoints: ["b"], ttl_hours: 0 }),
      "error ttl_hours: Too short",
    ],
    [
      "a role of a client",
      () => ofEphemeral("talosmith_talosconfig", { cluster_name: "a", endpoints: ["b"], roles: ["os:admin", "root"] }),
      "error roles[1]: Unknown value",
    ],
    [
      "an encryption",
      () => validateConfig(server, server.provider, whole(provider, { secrets_encryption: "rot13" })),
      "error secrets_encryption: Unknown value",
    ],
  ])("%s is refused where it stands, with what is expected", async (_, validate, expected) => {
    const diagnostics = await validate();
    expect(brief(diagnostics)).toEqual([expected]);
    expect(diagnostics[0]?.detail).toMatch(/^Found .*; expected .*\.$/);
  });
});

describe("endpoints", () => {
  const addon = { name: "a", namespace: "b", chart: "./chart" };
  const files = { cluster_name: "a", kubeconfig_path: "k", talosconfig_path: "t" };
  test.each<[string, () => Promise<readonly Diagnostic[]>]>([
    ["an add-on", () => ofResource("talosmith_addon", { ...addon, endpoints: [] })],
    ["client files", () => ofResource("talosmith_client_files", { ...files, endpoints: [] })],
    ["a backup", () => ofResource("talosmith_etcd_snapshot", { cluster_name: "a", directory: "c", endpoints: [] })],
    ["a kubeconfig", () => ofEphemeral("talosmith_kubeconfig", { endpoints: [] })],
  ])("of %s are at least one", async (_, validate) => {
    expect(brief(await validate())).toEqual(["error endpoints: No endpoint"]);
  });
});

describe("client files", () => {
  test("are two: one path for both is refused where it stands", async () => {
    const values = { cluster_name: "a", endpoints: ["b"], kubeconfig_path: "config", talosconfig_path: "config" };
    expect(brief(await ofResource("talosmith_client_files", values))).toEqual([
      "error talosconfig_path: One path for two files",
    ]);
  });
});

describe("credentials of a chart repository", () => {
  const addon = { name: "a", namespace: "b", chart: "c", endpoints: ["d"] };
  test.each<[string, Values, number]>([
    ["no password", {}, 1],
    ["two passwords", { password_env: "A", password_file: "b" }, 1],
    ["a password that is not known yet", { password_env: unknown }, 0],
    ["a password in a file", { password_file: "b" }, 0],
  ])("with %s", async (_, password, faults) => {
    const credentials = { username: "u", password_env: null, password_file: null, ...password };
    const found = brief(await ofResource("talosmith_addon", { ...addon, credentials }));
    expect(found).toEqual(Array(faults).fill("error credentials: One password"));
  });
});

describe("the config of a seed", () => {
  test("has no secret in its patches, which are in the state", async () => {
    const patches = ["machine:\n  token: abcdef.0123456789abcdef\n"];
    const values = { path: "seed.iso", meta_data: "", network_config: unknown, machine_config: { patches } };
    expect(brief(await ofResource("talosmith_cloud_init", values))).toEqual([
      "error machine_config.patches[0]: A secret in a patch",
    ]);
  });
});
