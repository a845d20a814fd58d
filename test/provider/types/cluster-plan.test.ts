// SPDX-License-Identifier: Apache-2.0
// What the provider plans for a cluster, without a machine and without Terraform.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  configureProvider,
  isUnknown,
  type ObjectValue,
  planResourceChange,
  Server,
  schemaOf,
  unknown,
  type Value,
  validateConfig,
} from "../../../provider/framework/index.ts";
import {
  Deferred_Reason,
  PlanResourceChangeRequest,
  PlanResourceChangeResponse,
} from "../../../provider/protocol/gen/tfplugin6.ts";
import { routes } from "../../../provider/protocol/index.ts";
import { toDynamicValue } from "../../../provider/protocol/value-codec.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-plan-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const options = { workingDirectory: root, environment: { TALOSMITH_ROOT: root }, daemonCommand: ["node"] } as const;
const type = "talosmith_cluster";

async function started(provider: Record<string, Value>, environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const server = new Server(talosmithProvider({ ...options, environment }), () => undefined) as Server;
  const empty = { secrets_file: null, secrets_encryption: null, age_recipients: null, secrets: null };
  expect(await configureProvider(server, { ...empty, ...provider })).toEqual([]);
  return server;
}

const machine = (role: string, address: Value, more: Record<string, Value> = {}): ObjectValue => ({
  role,
  address,
  fingerprint: null,
  member_id: null,
  hardware_id: null,
  disk_size: null,
  patches: null,
  provider_id: null,
  meta: null,
  ...more,
});

const base = {
  name: "test",
  endpoint: "https://10.0.0.1:6443",
  talos_version: "v1.13.9",
  kubernetes_version: "1.36.3",
  machines: { "cp-1": machine("controlplane", "10.0.0.1"), "w-1": machine("worker", "10.0.0.2") },
} as const;

const networkPatch = "cluster:\n  network:\n    serviceSubnets: [10.112.0.0/12]\n";

let server: Server;
beforeAll(async () => {
  const golden = join(import.meta.dirname, "../../golden/secrets/secrets-v1.13.yaml");
  writeFileSync(join(root, "secrets.yaml"), readFileSync(golden));
  server = await started({ secrets_file: "secrets.yaml" });
});

function config(wishes: Record<string, Value>): ObjectValue {
  const names = Object.keys(schemaOf(server.resource(type)).attributes);
  return Object.fromEntries(names.map((name) => [name, wishes[name] ?? null]));
}

/** Terraform's own merge of configuration and prior state, for attributes that are not nested. */
function proposed(wishes: ObjectValue, prior: ObjectValue | null): ObjectValue {
  const { attributes } = schemaOf(server.resource(type));
  return Object.fromEntries(
    Object.entries(wishes).map(([name, value]) => {
      const computed = attributes[name]?.mode === "computed" || attributes[name]?.mode === "defaulted";
      return [name, value === null && computed ? (prior?.[name] ?? null) : value];
    }),
  );
}

async function plan(wishes: Record<string, Value>, prior: ObjectValue | null = null, on = server) {
  const whole = config(wishes);
  const change = { typeName: type, prior, proposed: proposed(whole, prior), config: whole };
  const { planned, ...others } = await planResourceChange(on, change);
  return { planned: planned as ObjectValue, ...others };
}

async function applied(wishes: Record<string, Value>): Promise<ObjectValue> {
  return (await plan(wishes)).planned;
}

describe("the plan of a new cluster", () => {
  test("names every step and no address, even while the machines are not made", async () => {
    const known = await plan(base);
    // AWS knows addresses and ids of instances once they are made.
    const made = { provider_id: unknown };
    const machines = { "cp-1": machine("controlplane", unknown, made), "w-1": machine("worker", unknown, made) };
    const early = await plan({ ...base, endpoint: unknown, machines });
    expect(known.diagnostics).toEqual([]);
    expect(known.planned.steps).toEqual(early.planned.steps);
    expect(known.planned.steps).toEqual([
      expect.stringMatching(/^1\. apply initial config to cp-1/),
      expect.stringMatching(/^2\. apply initial config to w-1/),
      expect.stringMatching(/^3\. bootstrap etcd on cp-1/),
      expect.stringMatching(/^4\. wait for etcd on cp-1/),
      expect.stringMatching(/^5\./),
      expect.stringMatching(/^6\./),
    ]);
    expect(JSON.stringify(known.planned.steps)).not.toContain("10.0.0");
    expect(known.planned).toMatchObject({ id: "test", drift: [], changes: {}, on_destroy: "reset" });
  });

  test("is put off until its machines are made, for a core that can", async () => {
    const early = { ...base, machines: { "cp-1": machine("controlplane", unknown) } };
    expect((await plan(early)).deferred).toBe(true);
    expect((await plan({ ...base, machines: unknown })).deferred).toBe(true);
    expect((await plan(base)).deferred).toBe(false);
    const schema = schemaOf(server.resource(type));
    const whole = (values: Record<string, Value>) =>
      toDynamicValue(schema.type, {
        ...Object.fromEntries(Object.keys(schema.attributes).map((name) => [name, null])),
        ...values,
      });
    const onWire = async (deferralAllowed: boolean) => {
      const request = PlanResourceChangeRequest.encode({
        ...PlanResourceChangeRequest.decode(new Uint8Array(0)),
        typeName: type,
        priorState: toDynamicValue(schema.type, null),
        proposedNewState: whole({ ...early, ca_fingerprint: unknown }),
        config: whole(early),
        clientCapabilities: { deferralAllowed, writeOnlyAttributesAllowed: true },
      }).finish();
      const answer = await routes["/tfplugin6.Provider/PlanResourceChange"]?.(server, request);
      const { deferred, diagnostics } = PlanResourceChangeResponse.decode(answer ?? new Uint8Array(0));
      expect(diagnostics).toEqual([]);
      return deferred?.reason;
    };
    expect(await onWire(true)).toBe(Deferred_Reason.RESOURCE_CONFIG_UNKNOWN);
    expect(await onWire(false)).toBeUndefined();
  });

  test("is unknown only where the machines' names or roles are", async () => {
    expect(isUnknown((await plan({ ...base, machines: unknown })).planned.steps ?? null)).toBe(true);
  });

  test("does not need secrets, and does not make them", async () => {
    const without = await started({ secrets_file: "later.yaml" });
    const { planned, diagnostics } = await plan(base, null, without);
    expect(diagnostics).toEqual([]);
    expect(isUnknown(planned.ca_fingerprint ?? null)).toBe(true);
    expect(planned.steps).toHaveLength(6);
    const worker = machine("worker", "10.0.0.2", { patches: ["machine:\n  nodeLabels: { 'bad label': x }\n"] });
    const refused = await plan({ ...base, machines: { ...base.machines, "w-1": worker } }, null, without);
    expect(refused.diagnostics).toMatchObject([{ summary: "The machines would refuse their configs" }]);
  });

  test("finds a faulty patch before the apply", async () => {
    const machines = { "cp-1": machine("controlplane", "10.0.0.1", { patches: ["machine: {nonsense: 1}"] }) };
    const { diagnostics } = await plan({ ...base, machines });
    expect(diagnostics[0]?.detail).toContain("nonsense");
  });
});

describe("the plan of a change", () => {
  test("is empty when nothing changes", async () => {
    const prior = await applied(base);
    const { planned } = await plan(base, prior);
    expect(planned).toEqual(prior);
  });

  test("tells the changed paths without secrets and the steps of the rollout", async () => {
    const prior = await applied(base);
    const { planned } = await plan({ ...base, additional_sans: ["api.example"] }, prior);
    expect(planned.changes).toEqual({
      "cp-1": [expect.stringContaining("api.example"), expect.stringContaining("api.example")],
      "w-1": [expect.stringContaining("api.example")],
    });
    expect(planned.steps).toContain("1. apply config to cp-1 without a reboot");
  });

  test("to a newer Talos release keeps the contract, so that only the installer changes", async () => {
    const v1alpha1 = "machine:\n  kubelet:\n    extraArgs: { v: '2' }\n  nodeLabels: { a: b }\n";
    const machines = Object.fromEntries(
      Object.entries(base.machines).map(([name, machine]) => [name, { ...machine, patches: [v1alpha1] }]),
    );
    const { planned } = await plan(
      { ...base, machines, talos_version: "v1.14.1" },
      await applied({ ...base, machines }),
    );
    expect(planned).toMatchObject({ config_contract: "v1.13" });
    const { "w-1": lines } = planned.changes as Record<string, readonly string[]>;
    expect(lines).toEqual([expect.stringMatching(/^machine.install.image: .*:v1.13.9 → .*:v1.14.1$/)]);
  });

  test("of a state from before there was a contract keeps that of its Talos version", async () => {
    const prior: ObjectValue = { ...(await applied(base)), config_contract: null };
    expect((await plan(base, prior)).planned).toEqual(prior);
    const { planned } = await plan({ ...base, talos_version: "v1.14.1" }, prior);
    expect(planned).toMatchObject({ config_contract: "v1.13" });
  });

  test.each([
    ["a newer one", { config_contract: "v1.14" }, /The cluster has v1.13; found v1.14.*talosmith config migrate/],
    ["an older one", { config_contract: "v1.12" }, /The cluster has v1.13; found v1.12\. Set config_contract to v1.13/],
    [
      "one that was migrated from another",
      { config_contract: "v1.14", previous_contract: "v1.12" },
      /The cluster has v1.13/,
    ],
  ])("refuses another contract: %s", async (_, contract, message) => {
    const prior = await applied({ ...base, talos_version: "v1.14.1", config_contract: "v1.13" });
    const { diagnostics } = await plan({ ...base, talos_version: "v1.14.1", ...contract }, prior);
    expect(diagnostics.map(({ detail }) => detail)).toEqual([expect.stringMatching(message)]);
  });

  test("refuses, before anything is touched, a config that the machines would not take", async () => {
    const v1alpha1 = "machine:\n  kubelet:\n    extraArgs: { v: '2' }\n";
    const worker = machine("worker", "10.0.0.2", { patches: [v1alpha1] });
    const next = { ...base, talos_version: "v1.14.1", config_contract: "v1.14" };
    const patched = { ...next, machines: { ...base.machines, "w-1": worker } };
    const message =
      /w-1: Talos v1\.14\.1 would refuse the config: v1alpha1 machine\.kubelet \(machines\["w-1"\]\.patches\[0\]\) and KubeletConfig: kubelet config is already set/;
    const remade = { ...patched, machines: { ...patched.machines, "w-1": { ...worker, address: unknown } } };
    const cases = [
      [patched, null],
      [patched, await applied(next)],
      [remade, await applied(next)],
    ] as const;
    for (const [config, prior] of cases) {
      const { diagnostics } = await plan(config, prior);
      expect(diagnostics.map(({ detail }) => detail)).toEqual([expect.stringMatching(message)]);
    }
  });

  test("to a contract that keeps settings elsewhere tells in one line that they only move", async () => {
    const next = { ...base, talos_version: "v1.14.1" };
    const prior = await applied({ ...next, config_contract: "v1.13" });
    const migrated = { ...next, config_contract: "v1.14", previous_contract: "v1.13" };
    const { planned, diagnostics } = await plan(migrated, prior);
    expect(diagnostics).toEqual([]);
    const { "w-1": lines } = planned.changes as Record<string, readonly string[]>;
    expect(lines?.filter((line) => /: .* → none/.test(line) && !/kubelet|machine.install/.test(line))).toEqual([]);
    expect(lines?.at(-1)).toMatch(
      /^moved, not changed, for Talos 1.14 keeps them in .*: cluster.ca, cluster.clusterName,/,
    );
    expect(lines).toContain("SecurityProfileConfig: added");
  });

  test("of the schematic alone installs its image on every machine", async () => {
    const image = (letter: string) => `factory.talos.dev/metal-installer/${letter.repeat(64)}:v1.13.9`;
    const prior = await applied({ ...base, install_image: image("a") });
    const { planned } = await plan({ ...base, install_image: image("b") }, prior);
    const steps = (planned.steps as readonly string[]).filter((step) => step.includes("install factory"));
    expect(steps.map((step) => step.replace(/^\d+\. /, ""))).toEqual(
      ["cp-1", "w-1"].map((name) => `install factory.talos.dev/metal-installer/bbbb…:v1.13.9 on ${name}`),
    );
  });

  test("of the care alone takes no step", async () => {
    const rollout = care({ max_unavailable: "50%", drain_timeout: "10m" });
    const prior = await applied(base);
    const { planned, diagnostics } = await plan({ ...base, rollout }, prior);
    expect(diagnostics).toEqual([]);
    expect(planned).toMatchObject({ rollout, steps: [], changes: {} });
  });

  test("META is written where it differs, and taken away where it is not said any more", async () => {
    const withMeta = (meta: Value) => ({ ...base.machines, "w-1": machine("worker", "10.0.0.2", { meta }) });
    const prior = await applied({ ...base, machines: withMeta({ "12": "one", "13": "two" }) });
    expect(prior.steps).toContain("4. write META keys 12, 13 on w-1");
    const { planned } = await plan({ ...base, machines: withMeta({ "12": "one" }) }, prior);
    expect(planned.steps).toEqual(["1. write META key 13 on w-1"]);
    expect((await plan({ ...base, machines: withMeta({ "12": "one", "13": "two" }) }, prior)).planned).toEqual(prior);
  });

  test("a machine less is drained, wiped and deleted; a machine more is installed", async () => {
    const prior = await applied(base);
    const less = await plan({ ...base, machines: { "cp-1": base.machines["cp-1"] } }, prior);
    expect(less.planned.steps).toEqual([
      "1. drain w-1",
      "2. remove w-1 from the cluster and wipe its disk",
      "3. delete Kubernetes node w-1",
    ]);
    const more = await plan({ ...base, machines: { ...base.machines, "w-2": machine("worker", unknown) } }, prior);
    expect(JSON.stringify(more.planned.steps)).toContain("apply initial config to w-2");
  });

  test("what a refresh found comes first and is gone after the apply", async () => {
    const prior = { ...(await applied(base)), drift: ["apply config to w-1 without a reboot"] };
    const { planned } = await plan(base, prior);
    expect(planned.drift).toEqual([]);
    expect(planned.steps).toEqual(["1. apply config to w-1 without a reboot"]);
  });

  test("what a refresh found is told once with what is new on the same machine: a changed patch file is both", async () => {
    const found = "apply config to w-1 without a reboot: machine.registries.config";
    const prior = { ...(await applied(base)), drift: [found] };
    const worker = machine("worker", "10.0.0.2", { patches: ["machine: { nodeLabels: { a: b } }"] });
    const { planned } = await plan({ ...base, machines: { ...base.machines, "w-1": worker } }, prior);
    const steps = planned.steps as readonly string[];
    expect(steps.filter((step) => step.includes("apply config to w-1"))).toEqual([
      "1. apply config to w-1 without a reboot",
    ]);
  });

  test.each<[string, Record<string, Value>, string, string]>([
    ["another name", { name: "other" }, "name", "Can't be changed"],
    ["another domain", { dns_domain: "other.local" }, "dns_domain", "Can't be changed"],
    ["other pod CIDRs", { pod_subnets: ["10.200.0.0/16"] }, "pod_subnets", "Can't be changed"],
    ["other service CIDRs", { service_subnets: ["10.112.0.0/12"] }, "service_subnets", "Can't be changed"],
    [
      "a patch of the service CIDRs",
      { machines: { ...base.machines, "w-1": machine("worker", "10.0.0.2", { patches: [networkPatch] }) } },
      "machines",
      "Can't be changed",
    ],
    ["another infrastructure", { infrastructure_kind: "aws" }, "infrastructure_kind", "Can't be changed"],
    ["an older Talos", { talos_version: "v1.13.0" }, "talos_version", "Versions only go up"],
    [
      "an older minor version of Kubernetes",
      { kubernetes_version: "1.35.4" },
      "kubernetes_version",
      "Versions only go up",
    ],
    [
      "another role",
      { machines: { ...base.machines, "w-1": machine("controlplane", "10.0.0.2") } },
      'machines["w-1"].role',
      "Can't be changed",
    ],
  ])("%s is refused at the attribute", async (_, wish, where, summary) => {
    const prior = await applied({ ...base, infrastructure_kind: "libvirt" });
    const { diagnostics } = await plan({ ...base, infrastructure_kind: "libvirt", ...wish }, prior);
    expect(diagnostics.map(({ severity, path, summary: title }) => [severity, String(path), title])).toContainEqual([
      "error",
      where,
      summary,
    ]);
  });

  test.each<[string, Record<string, Value>, Record<string, Value>]>([
    ["the defaults, once they are written out", {}, { dns_domain: "cluster.local", pod_subnets: ["10.244.0.0/16"] }],
    ["what is not known yet", {}, { service_subnets: unknown }],
    ["the kind of a state that does not have it", {}, { infrastructure_kind: "aws" }],
    ["a kind that is no longer written", { infrastructure_kind: "aws" }, {}],
  ])("%s is not refused", async (_, before, after) => {
    const { diagnostics } = await plan({ ...base, ...after }, await applied({ ...base, ...before }));
    expect(diagnostics).toEqual([]);
  });

  test("more than one control plane at once is not replaced", async () => {
    const three = (address: (index: number) => Value) =>
      Object.fromEntries([1, 2, 3].map((index) => [`cp-${index}`, machine("controlplane", address(index))]));
    const prior = await applied({ ...base, machines: three((index) => `10.0.0.${index}`) });
    const one = await plan({ ...base, machines: three((index) => (index === 2 ? unknown : `10.0.0.${index}`)) }, prior);
    expect(one.diagnostics).toEqual([]);
    const all = await plan({ ...base, machines: three(() => unknown) }, prior);
    expect(all.diagnostics[0]?.summary).toBe("Several control planes at once");
  });

  test("more than one control plane at once is not stopped, and the only one is never replaced", async () => {
    const planes = (count: number, more: (index: number) => Record<string, Value>) => ({
      ...base,
      machines: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `cp-${index + 1}`,
          machine("controlplane", `10.0.0.${index + 1}`, more(index + 1)),
        ]),
      ),
    });
    const prior = await applied(planes(3, (index) => ({ hardware_id: `h-${index}` })));
    const summaries = async (wish: ReturnType<typeof planes>, before: typeof prior) =>
      (await plan(wish, before)).diagnostics.map(({ summary }) => summary);
    const stop = (stopped: readonly number[]) =>
      summaries(
        planes(3, (index) => ({ hardware_id: stopped.includes(index) ? unknown : `h-${index}` })),
        prior,
      );
    const notDrained = ["Machines are stopped without a drain"];
    expect(await stop([2])).toEqual(notDrained);
    expect(await stop([1, 3])).toEqual(["Several control planes at once"]);
    // Those that were changed one by one have other ids now, and that is well.
    expect(
      await summaries(
        planes(3, (index) => ({ hardware_id: `new-${index}` })),
        prior,
      ),
    ).toEqual([]);

    const members = await applied(planes(3, (index) => ({ member_id: `m-${index}` })));
    const replace = (ids: readonly Value[]) =>
      summaries(
        planes(3, (index) => ({ member_id: ids[index - 1] ?? `m-${index}` })),
        members,
      );
    expect(await replace([null, unknown, unknown])).toEqual(["Several control planes at once"]);
    // Those that were replaced before are to join in this apply, which would be refused for ever.
    expect(await replace(["new-1", "new-2"])).toEqual([]);
    expect(await replace(["new-1", "new-2", unknown])).toEqual([]);

    const alone = await applied(planes(1, () => ({ member_id: "m-1", hardware_id: "h-1" })));
    expect(
      await summaries(
        planes(1, () => ({ member_id: "m-1", hardware_id: unknown })),
        alone,
      ),
    ).toEqual(notDrained);
    expect(
      await summaries(
        planes(1, () => ({ member_id: unknown })),
        alone,
      ),
    ).toEqual(["The only control plane"]);
  });

  describe("a plan that stops workers", () => {
    const workers = (stopped: number, more: Record<string, Value> = {}) => ({
      ...base,
      ...more,
      machines: {
        "cp-1": machine("controlplane", "10.0.0.1", { hardware_id: "h" }),
        ...Object.fromEntries(
          [1, 2, 3, 4].map((index) => [
            `w-${index}`,
            machine("worker", `10.0.0.${index + 1}`, { hardware_id: index <= stopped ? unknown : `h-${index}` }),
          ]),
        ),
      },
    });
    const refusal = ["error: Too many workers at once"];
    const warning = ["warning: Machines are stopped without a drain"];
    test.each<[string, number, Value, readonly string[]]>([
      ["none of them", 0, null, []],
      ["one", 1, null, warning],
      ["one more than the default allows", 2, null, refusal],
      ["as many as rollout allows", 2, "2", warning],
      ["one more than rollout allows", 3, "2", refusal],
      ["half of them, as a share", 2, "50%", warning],
      ["more than a share", 3, "50%", refusal],
    ])("%s", async (_, stopped, most, expected) => {
      const rollout = most === null ? {} : { rollout: care({ max_unavailable: most }) };
      const found = await plan(workers(stopped, rollout), await applied(workers(0, rollout)));
      expect(found.diagnostics.map(({ severity, summary }) => `${severity}: ${summary}`)).toEqual(expected);
    });

    test("prints the commands to type", async () => {
      const { diagnostics } = await plan(workers(4), await applied(workers(0)));
      for (const text of ["w-1, w-2, w-3, w-4", "talosmith deploy", "kubectl drain", "-target=", "kubectl uncordon"])
        expect(diagnostics[0]?.detail).toContain(text);
    });

    test("is not refused where talosmith deploy stops them in turn", async () => {
      const rolled = await started({ secrets_file: "secrets.yaml" }, { TALOSMITH_ROLLS: "true" });
      const { diagnostics } = await plan(workers(4), await applied(workers(0)), rolled);
      expect(diagnostics).toEqual([]);
    });
  });

  test.each<[string, Value, Value, readonly string[]]>([
    ["grows", 10 * 2 ** 30, 12 * 2 ** 30, []],
    ["was not known", null, 2 ** 30, []],
    ["shrinks", 12 * 2 ** 30, 10 * 2 ** 30, ["The disk of w-1 has 12GiB; found 10GiB."]],
  ])("a disk that %s", async (_, before, after, expected) => {
    const disk = (size: Value) => ({
      ...base,
      machines: { ...base.machines, "w-1": machine("worker", "10.0.0.2", { disk_size: size }) },
    });
    const { diagnostics } = await plan(disk(after), await applied(disk(before)));
    expect(diagnostics.map(({ detail }) => /^.*?\. /.exec(detail ?? "")?.[0].trim())).toEqual(expected);
  });

  test("lost or exchanged secrets stop it", async () => {
    const prior = await applied(base);
    const lost = await plan(base, prior, await started({ secrets_file: "lost.yaml" }));
    expect(lost.diagnostics[0]?.summary).toBe("The cluster's secrets are missing");
    const other = readFileSync(join(import.meta.dirname, "../../golden/secrets/secrets-v1.12.yaml"), "utf8");
    const exchanged = await plan(base, prior, await started({ secrets: other }));
    expect(exchanged.diagnostics[0]?.summary).toBe("These are the secrets of another cluster");
  });
});

const care = (said: Record<string, Value>): ObjectValue => ({
  max_unavailable: null,
  drain_timeout: null,
  stuck_pods: null,
  revert_failed_upgrades: null,
  health_level: null,
  ...said,
});

describe("the configuration of a cluster", () => {
  test.each<[string, Record<string, Value>, string]>([
    ["a Kubernetes that this Talos can't run", { kubernetes_version: "1.20.0" }, "too old to be used with Talos"],
    ["a release without its patch", { talos_version: "1.14" }, 'Write "v1.14.1"'],
    ["a word for the newest release", { talos_version: "latest" }, 'Write "v1.14.1"'],
    ["a release too old", { talos_version: "v1.8.4" }, "expected 1.9 to 1.14"],
    ["an endpoint without scheme", { endpoint: "10.0.0.1:6443" }, "no scheme"],
    ["a pod network that is not one", { cni: "calico" }, "calico"],
    ["no worker that may be away", { rollout: care({ max_unavailable: "0" }) }, "a whole number from 1 on"],
    ["a time without a unit", { rollout: care({ drain_timeout: "300" }) }, "a duration such as"],
    ["another fate of pods", { rollout: care({ stuck_pods: "evict" }) }, "evict"],
    ["a custom pod network without manifests", { cni: "custom" }, "cni_urls names no manifest"],
    ["a name that is no host name", { machines: { Cp_1: machine("controlplane", unknown) } }, "Cp_1"],
    ["no control plane", { machines: { "w-1": machine("worker", unknown) } }, "at least one machine"],
  ])("%s is a fault", async (_, wish, text) => {
    const found = await validateConfig(server, server.resource(type), config({ ...base, ...wish }));
    expect(
      found
        .filter(({ severity }) => severity === "error")
        .map(({ detail }) => detail)
        .join(),
    ).toContain(text);
  });

  test("a Talos that is newer than all that is known is a warning at its attribute", async () => {
    const newer = { ...base, talos_version: "v1.15.0", kubernetes_version: "1.38.0" };
    const found = await validateConfig(server, server.resource(type), config(newer));
    expect(found).toMatchObject([{ severity: "warning", detail: expect.stringContaining("contract v1.14") }]);
    expect(JSON.stringify(found[0]?.path)).toContain("talos_version");
  });

  test("an even number of control planes is a warning", async () => {
    const machines = { "cp-1": machine("controlplane", unknown), "cp-2": machine("controlplane", unknown) };
    const found = await validateConfig(server, server.resource(type), config({ ...base, machines }));
    expect(found.map(({ severity }) => severity)).toEqual(["warning"]);
  });
});
