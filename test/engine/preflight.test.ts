// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type DesiredCluster,
  defaultPolicy,
  type MachineState,
  type ObservedCluster,
  observe,
  plan,
  preflight,
} from "../../engine/index.ts";
import { certificateState } from "../../engine/observe/inspect.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { lab, wish } from "./fixture.ts";

async function running(before = wish()): Promise<ObservedCluster> {
  const { world, apply } = lab(before);
  await apply(before);
  return observe(before, { machines: world.port() });
}

function withState(
  observed: ObservedCluster,
  name: string,
  change: (state: MachineState) => MachineState,
): ObservedCluster {
  const machines = new Map(observed.machines);
  const machine = machines.get(name);
  if (machine !== undefined) machines.set(name, { ...machine, state: change(machine.state) });
  return { ...observed, machines };
}

const empty = async (desired: DesiredCluster) => observe(desired, { machines: lab(desired).world.port() });
const errors = (desired: DesiredCluster, observed: ObservedCluster) =>
  preflight(desired, observed).filter(({ severity }) => severity === "error");

describe("before the first change", () => {
  test("a good cluster has nothing in its way", async () => {
    expect(preflight(wish(), await empty(wish()))).toEqual([]);
    expect(preflight(wish({ sysctl: "2" }), await running())).toEqual([]);
  });

  test("an even number of control planes is a warning, never an error", async () => {
    const desired = wish({ controlPlanes: ["cp-1", "cp-2"] });
    expect(preflight(desired, await empty(desired))).toMatchObject([
      { severity: "warning", message: "2 control planes survive no more failures than 1" },
    ]);
  });

  test("Kubernetes must be one that this Talos supports", async () => {
    const desired = wish({ kubernetes: "1.30.0" });
    expect(errors(desired, await empty(desired))).toMatchObject([
      { message: expect.stringContaining("too old to be used with Talos 1.13.9") },
    ]);
  });

  test("a machine of another cluster is refused", async () => {
    const observed = withState(await empty(wish()), "w-1", () => ({
      kind: "foreign",
      reason: "it asks for a client certificate",
    }));
    expect(errors(wish(), observed)).toMatchObject([
      { machine: "w-1", message: expect.stringContaining("belongs to another cluster") },
    ]);
  });

  test("an empty machine must show the fingerprint and have the disk", async () => {
    const desired = wish();
    const machines = desired.machines.map((machine) =>
      machine.name === "w-1" ? { ...machine, installDisk: "/dev/sda" } : machine,
    );
    const observed = withState(await empty(desired), "w-1", () => ({
      kind: "maintenance",
      fingerprint: "another",
      disks: ["/dev/vda"],
    }));
    expect(errors({ ...desired, machines }, observed).map(({ message }) => message)).toEqual([
      "w-1 shows the fingerprint another, not print-w-1",
      "w-1 has no disk /dev/sda; it has /dev/vda",
    ]);
  });

  test("an empty machine without a fingerprint is refused unless the first answer is trusted", async () => {
    const pinned = wish();
    const machines = pinned.machines.map(({ fingerprint: _, ...machine }) => machine);
    const desired = { ...pinned, machines };
    const observed = withState(await running(), "w-1", () => ({ kind: "maintenance", fingerprint: "any" }));
    expect(errors(desired, observed)).toMatchObject([
      { machine: "w-1", hint: expect.stringMatching(/fingerprint.*user-data.*trustOnFirstUse: true/) },
    ]);
    expect(errors({ ...desired, trustOnFirstUse: true }, observed)).toEqual([]);
  });

  test.each([
    ["Talos is never downgraded", "v1.14.0", /never downgraded/],
    ["Talos does not skip too many releases", "v1.9.6", /too old to upgrade to Talos 1\.13\.9/],
  ])("%s", async (_name, version, message) => {
    const observed = withState(await running(), "cp-2", (state) =>
      state.kind === "configured" ? { ...state, talosVersion: version } : state,
    );
    expect(errors(wish(), observed)).toMatchObject([{ machine: "cp-2", message: expect.stringMatching(message) }]);
  });

  test.each([
    ["1.36.3", "1.35.4", /cannot be downgraded: not to 1\.35\.4/],
    ["1.34.1", "1.36.3", /unsupported upgrade path 1\.34->1\.36/],
  ])("Kubernetes does not go from %s to %s", async (from, to, message) => {
    const found = errors(wish({ kubernetes: to }), await running(wish({ kubernetes: from })));
    expect(found.length).toBeGreaterThan(0);
    for (const finding of found) expect(finding.message).toMatch(message);
  });

  test("Kubernetes goes from where its oldest component is", async () => {
    const observed = withState(await running(wish({ kubernetes: "1.35.4" })), "cp-1", (state) =>
      state.kind === "configured"
        ? { ...state, config: edited(state.config, (text) => text.replace(/kubelet:v1.35.4/, "kubelet:v1.34.1")) }
        : state,
    );
    expect(errors(wish({ kubernetes: "1.36.3" }), observed)).toMatchObject([
      { machine: "cp-1", message: expect.stringContaining("unsupported upgrade path 1.34->1.36") },
    ]);
  });

  test("an active config that cannot be read is an error with its place, and its machine's alone", async () => {
    const observed = withState(await running(), "w-1", (state) =>
      state.kind === "configured" ? { ...state, config: new MachineConfig("machine: [", "active config") } : state,
    );
    expect(errors(wish(), observed)).toMatchObject([
      {
        machine: "w-1",
        message: expect.stringMatching(/^the active config of w-1 cannot be read: active config:1:\d+: /),
      },
    ]);
    const steps = plan(wish(), observed, defaultPolicy);
    expect(new Set(steps.map(({ machine }) => machine))).toEqual(new Set(["w-1"]));
  });

  const edited = (config: MachineConfig | undefined, change: (text: string) => string) =>
    new MachineConfig(change(config?.text ?? ""));

  const withConfig = (change: (config: string) => string): DesiredCluster => {
    const desired = wish();
    return { ...desired, machines: desired.machines.map((one) => ({ ...one, config: edited(one.config, change) })) };
  };

  test.each([
    [
      "a flag",
      "  kubelet:\n    extraArgs:\n      pod-infra-container-image: x\n",
      /kubelet of Kubernetes 1\.36\.3 has no flag pod-infra-container-image, it went with 1\.35: cp-1, cp-2, cp-3, w-1, w-2/,
    ],
    [
      "a feature gate",
      "  kubelet:\n    extraConfig:\n      featureGates:\n        AppArmor: true\n",
      /has no feature gate AppArmor, it went with 1\.33/,
    ],
    [
      "feature gates in a flag",
      '  kubelet:\n    extraArgs:\n      feature-gates: "Good=true,KMSv2=true"\n',
      /has no feature gate KMSv2/,
    ],
  ])("%s that this Kubernetes no longer knows is found in the config", async (_name, lines, message) => {
    const desired = withConfig((config) => config.replace("  kubelet:\n", lines));
    expect(errors(desired, await empty(desired))).toMatchObject([{ message: expect.stringMatching(message) }]);
  });

  test("so is what the control plane's components are started with", async () => {
    const old = withConfig((config) =>
      config.replace(
        "  apiServer:\n",
        "  apiServer:\n    extraArgs:\n      enable-admission-plugins: A,SecurityContextDeny\n",
      ),
    );
    expect(errors(old, await empty(old))).toMatchObject([
      {
        message: expect.stringContaining(
          "kube-apiserver of Kubernetes 1.36.3 has no admission plugin SecurityContextDeny",
        ),
      },
    ]);
  });

  test.each([
    [
      "KubeSchedulerConfig\nextraArgs:\n  feature-gates: [CPUManager=true]\n",
      "kube-scheduler of Kubernetes 1.36.3 has no feature gate CPUManager",
    ],
    [
      "KubeletConfig\nconfig:\n  featureGates:\n    AppArmor: true\n",
      "kubelet of Kubernetes 1.36.3 has no feature gate AppArmor",
    ],
    [
      "KubeAdmissionControlConfig\nname: SecurityContextDeny\nconfiguration: {}\n",
      "kube-apiserver of Kubernetes 1.36.3 has no admission plugin SecurityContextDeny",
    ],
  ])("so is what stands in a document of its own, as %j", async (document, message) => {
    const modern = withConfig((config) => `${config}---\napiVersion: v1alpha1\nkind: ${document}`);
    expect(errors(modern, await empty(modern)).map((error) => error.message)).toContainEqual(
      expect.stringContaining(message),
    );
  });

  test("the endpoint's host must be in the certificate of the Kubernetes API", async () => {
    const desired = { ...wish(), endpoint: "https://k8s.example:6443" };
    expect(errors(desired, await empty(desired))).toMatchObject([
      {
        message: "the endpoint's host k8s.example is not in the certificate of the Kubernetes API: cp-1, cp-2, cp-3",
        hint: expect.stringContaining("certSANs"),
      },
    ]);
    const named = withConfig((config) =>
      config.replace("  apiServer:\n", "  apiServer:\n    certSANs: [k8s.example]\n"),
    );
    expect(errors({ ...named, endpoint: desired.endpoint }, await empty(desired))).toEqual([]);
  });

  const certificate = {
    validFrom: new Date("2026-01-02T00:00:00Z"),
    validTo: new Date("2026-01-03T00:00:00Z"),
    names: ["10.0.0.1", "w-1"],
  };
  test.each([
    [
      "from the future",
      "2026-01-01T20:00:00Z",
      true,
      "clock",
      /its clock is at least 4 h ahead of ours/,
      /machine\.time\.servers/,
    ],
    [
      "of the past",
      "2026-01-03T00:10:00Z",
      true,
      "clock",
      /its clock is at least 10 min behind ours/,
      /machine\.time\.servers/,
    ],
    [
      "for other addresses",
      "2026-01-02T12:00:00Z",
      false,
      "address",
      /is for 10\.0\.0\.1, w-1, not for w-1\.example/,
      /Add w-1\.example to machine\.certSANs/,
    ],
  ] as const)("a certificate %s is told with its cause", async (_name, now, namesHost, kind, reason, hint) => {
    const target = { name: "w-1", role: "worker", address: "w-1.example" } as const;
    const state = certificateState(target, { ...certificate, namesHost }, new Date(now));
    expect(state).toMatchObject({ kind: "unreachable", reason: expect.stringMatching(reason), certificate: { kind } });
    const observed = withState(await running(), "w-1", (before) => state ?? before);
    expect(errors(wish(), observed)).toMatchObject([
      { machine: "w-1", message: expect.stringMatching(reason), hint: expect.stringMatching(hint) },
    ]);
  });

  test("a certificate that is in order is no obstacle", () => {
    const target = { name: "w-1", role: "worker", address: "10.0.0.1" } as const;
    expect(
      certificateState(target, { ...certificate, namesHost: true }, new Date("2026-01-02T12:00:00Z")),
    ).toBeUndefined();
  });

  test("clocks must be together, unless the change may be what mends them", async () => {
    const { world, apply } = lab(wish());
    await apply(wish());
    world.clocks.set("w-2", -90_000);
    await expect(apply(wish({ sysctl: "2" }))).rejects.toMatchObject({
      code: "failed-precondition",
      message: "the clock of w-2 is 90 s behind ours",
    });
    const mended = withConfig((config) => `${config}---\napiVersion: v1alpha1\nkind: TimeSyncConfig\nenabled: true\n`);
    expect((await apply(mended)).steps.length).toBeGreaterThan(0);
  });

  test("nobody may leave whom etcd needs", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.lose("cp-3");
    const desired = wish({ controlPlanes: ["cp-1", "cp-3"], leaving: ["cp-2"] });
    const found = errors(desired, await observe(desired, { machines: world.port() }));
    expect(found).toMatchObject([
      { machine: "cp-2", message: expect.stringMatching(/cannot leave: of 3 etcd members 2 are healthy/) },
    ]);
  });

  test("with two members none can be rebooted", async () => {
    const before = wish({ controlPlanes: ["cp-1", "cp-2"] });
    const found = errors(wish({ controlPlanes: ["cp-1", "cp-2"], file: "b" }), await running(before));
    expect(found.map(({ machine }) => machine)).toEqual(["cp-1", "cp-2"]);
  });

  test("a running machine does not change its role", async () => {
    const observed = await running(wish({ workers: ["x"] }));
    const found = errors(wish({ controlPlanes: ["cp-1", "cp-2", "cp-3", "x"], workers: [] }), observed);
    expect(found).toMatchObject([
      { machine: "x", message: "x is a worker, and a running machine cannot become a controlplane" },
    ]);
  });

  test("a machine that leaves without answering is told not to be wiped", async () => {
    const { world, apply } = lab(wish());
    await apply(wish());
    world.lose("w-2");
    const desired = wish({ workers: ["w-1"], leaving: ["w-2"] });
    const found = preflight(desired, await observe(desired, { machines: world.port() }));
    expect(found).toMatchObject([
      { severity: "warning", machine: "w-2", message: expect.stringContaining("its disk is not wiped") },
    ]);
  });

  test("a lost quorum is named as such", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.replace("cp-1");
    world.replace("cp-2");
    const found = errors(before, await observe(before, { machines: world.port() }));
    expect(found).toMatchObject([{ message: "etcd has lost its quorum: cp-3 still have data, cp-1, cp-2 are empty" }]);
  });

  test("members that nobody knows are told of", async () => {
    const { world, apply } = lab(wish());
    await apply(wish());
    const desired = wish({ controlPlanes: ["cp-1", "cp-2"] });
    const found = preflight(desired, await observe(desired, { machines: world.port() }));
    expect(found.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/etcd has a member cp-3 \(\w+\) that is not in/),
    );
  });
});
