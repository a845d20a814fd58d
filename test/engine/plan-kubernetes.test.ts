// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { DesiredCluster } from "../../engine/desired.ts";
import { plan } from "../../engine/plan/plan.ts";
import { defaultPolicy, type Policy } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { type Difference, found, told, unreachable } from "./found.ts";
import { wish } from "./wish.ts";

const planned = (desired: DesiredCluster, difference?: Difference, policy?: Partial<Policy>) =>
  told(plan(desired, found(desired, difference), { ...defaultPolicy, ...policy }));
const small = { controlPlanes: ["cp-1"], workers: ["w-1"] };
const old = wish({ ...small, kubernetes: "1.35.4" });
const gates: Partial<Policy> = { gates: [{ command: ["true"], timeout: 1000 }] };
const onOne = [
  "upgrade-kube-apiserver/cp-1 < pull-images/cp-1 pull-images/w-1",
  "> upgrade-kube-controller-manager/cp-1",
  "> upgrade-kube-scheduler/cp-1",
  "> upgrade-kube-proxy/cp-1",
  "> upgrade-kubelet/cp-1",
  "> upgrade-kubelet/w-1",
  "> sync-manifests/cp-1",
];
const talosOnOne = [
  "> drain/cp-1",
  "> upgrade-talos/cp-1",
  "> join-etcd/cp-1",
  "> join-kubernetes/cp-1",
  "> uncordon/cp-1",
  "> pull-installer/w-1",
  "> drain/w-1",
  "> upgrade-talos/w-1",
  "> join-kubernetes/w-1",
  "> uncordon/w-1",
];

describe("a new Kubernetes", () => {
  test("is fetched everywhere, then goes over component by component, kubelets last", () => {
    const controlPlanes = ["cp-1", "cp-2"];
    const was = wish({ controlPlanes, kubernetes: "1.35.4" });
    expect(planned(wish({ controlPlanes }), { was })).toEqual([
      "pull-images/cp-1",
      "pull-images/cp-2",
      "pull-images/w-1",
      "pull-images/w-2",
      "upgrade-kube-apiserver/cp-1 < pull-images/cp-1 pull-images/cp-2 pull-images/w-1 pull-images/w-2",
      "> upgrade-kube-apiserver/cp-2",
      "> upgrade-kube-controller-manager/cp-1",
      "> upgrade-kube-controller-manager/cp-2",
      "> upgrade-kube-scheduler/cp-1",
      "> upgrade-kube-scheduler/cp-2",
      "> upgrade-kube-proxy/cp-1",
      "> upgrade-kube-proxy/cp-2",
      "> upgrade-kubelet/cp-1",
      "> upgrade-kubelet/cp-2",
      "> upgrade-kubelet/w-1",
      "> upgrade-kubelet/w-2",
      "> sync-manifests/cp-1",
    ]);
  });

  test("fetches what the machine will run itself, to where it runs it from", () => {
    const desired = wish(small);
    const images = plan(desired, found(desired, { was: old }), defaultPolicy).flatMap((step) =>
      step.kind === "pull-images"
        ? step.images.map(({ image, namespace }) => `${step.machine} ${namespace} ${image}`)
        : [],
    );
    expect(images).toEqual([
      "cp-1 cri registry.k8s.io/kube-apiserver:v1.36.3",
      "cp-1 cri registry.k8s.io/kube-controller-manager:v1.36.3",
      "cp-1 cri registry.k8s.io/kube-scheduler:v1.36.3",
      "cp-1 system ghcr.io/siderolabs/kubelet:v1.36.3",
      "w-1 system ghcr.io/siderolabs/kubelet:v1.36.3",
    ]);
  });

  test("is no older one, and is left for machines that can be reached", () => {
    expect(planned(old, { was: wish(small) })).toEqual([]);
    expect(planned(wish(small), { was: old, machines: { "w-1": unreachable } })).toEqual([
      "pull-images/cp-1",
      "> upgrade-kube-apiserver/cp-1",
      ...onOne.slice(1, -2),
      "> sync-manifests/cp-1",
    ]);
  });

  test("goes over workers in as many lanes as may be away", () => {
    const workers = ["w-1", "w-2", "w-3"];
    const was = wish({ ...small, workers, kubernetes: "1.35.4" });
    expect(planned(wish({ ...small, workers }), { was }, { maxUnavailable: 2 }).slice(-4)).toEqual([
      "> upgrade-kubelet/w-1",
      "> upgrade-kubelet/w-2",
      "upgrade-kubelet/w-3 < upgrade-kubelet/w-1",
      "sync-manifests/cp-1 < upgrade-kubelet/w-2 upgrade-kubelet/w-3",
    ]);
  });

  test("begins only when the gate opens, and with all images at hand even then", () => {
    const gated = (component: string, machine = "cp-1") => [
      `> gate/${machine}/${component}`,
      `> upgrade-${component}/${machine}`,
    ];
    expect(planned(wish(small), { was: old }, gates)).toEqual([
      "gate/cp-1/kube-apiserver",
      "> pull-images/cp-1",
      "pull-images/w-1 < gate/cp-1/kube-apiserver",
      "upgrade-kube-apiserver/cp-1 < pull-images/cp-1 pull-images/w-1",
      ...gated("kube-controller-manager"),
      ...gated("kube-scheduler"),
      ...gated("kube-proxy"),
      ...gated("kubelet"),
      ...gated("kubelet", "w-1"),
      "> sync-manifests/cp-1",
    ]);
  });

  test("pauses after the kubelets of its canaries", () => {
    const workers = ["w-1", "w-2"];
    const desired = wish({ ...small, workers });
    const canary = { machines: 1, soak: 0, afterwards: "stop" } as const;
    const was = wish({ ...small, workers, kubernetes: "1.35.4" });
    const steps = plan(desired, found(desired, { was }), { ...defaultPolicy, canary });
    const pause = steps.find(({ kind }) => kind === "pause");
    expect(pause).toMatchObject({ canaries: ["w-1"], after: ["upgrade-kubelet/w-1"] });
    expect(pause?.id).toMatch(/^pause\/kubelets\/[0-9a-f]{12}$/);
    expect(steps.find(({ id }) => id === "upgrade-kubelet/w-2")?.after).toEqual([pause?.id]);
  });
});

describe("the objects of the cluster", () => {
  test.each<[string, Difference, readonly string[]]>([
    ["an older kube-proxy", { proxyVersion: "1.35.4" }, ["sync-manifests/cp-1"]],
    ["the wished one", { proxyVersion: "1.36.3" }, []],
    ["a newer one", { proxyVersion: "1.37.0" }, []],
    ["none", {}, []],
    ["nobody who answers", { kubernetes: "unreachable" }, []],
  ])("are brought up to date where an interrupted upgrade has left %s", (_, difference, steps) => {
    expect(planned(wish(small), difference, { healthLevel: "talos" })).toEqual(steps);
  });

  test.each([
    ["the machine config", (config: string) => config.replace("  proxy:\n", "  proxy:\n    disabled: true\n")],
    [
      "a document of its own",
      (config: string) => `${config}---\napiVersion: v1alpha1\nkind: KubeProxyConfig\nenabled: false\n`,
    ],
  ])("stay as they are where kube-proxy is switched off in %s", (_, off) => {
    const desired = wish(small);
    const machines = desired.machines.map((machine) => ({
      ...machine,
      config: new MachineConfig(off(machine.config.text)),
    }));
    expect(planned({ ...desired, machines }, { proxyVersion: "1.35.4" })).toEqual([]);
  });

  test("has its manifests brought by a control plane, never by a worker", () => {
    const steps = planned(wish(small), { was: old, machines: { "cp-1": unreachable } });
    expect(steps.filter((step) => step.includes("sync-manifests"))).toEqual([]);
  });

  test("come from the first control plane that answers", () => {
    const difference: Difference = { proxyVersion: "1.35.4", machines: { "cp-1": unreachable } };
    expect(planned(wish(), difference)).toEqual(["sync-manifests/cp-2"]);
    expect(planned(wish(small), difference)).toEqual([]);
  });
});

describe("a new Talos and a new Kubernetes", () => {
  test("Talos first", () => {
    const was = wish({ ...small, talos: "v1.12.11", kubernetes: "1.35.4" });
    expect(planned(wish(small), { was })).toEqual([
      "pull-installer/cp-1",
      ...talosOnOne,
      "> pull-images/cp-1",
      "pull-images/w-1 < uncordon/w-1",
      ...onOne,
    ]);
  });

  test("Talos first although a machine cannot be reached", () => {
    const was = wish({ ...small, talos: "v1.12.11", kubernetes: "1.35.4" });
    const [first] = planned(wish(small), { was, machines: { "w-1": unreachable } });
    expect(first).toBe("pull-installer/cp-1");
  });

  test("Kubernetes first where one machine or one component is too old for the new Talos", () => {
    const was = wish({ ...small, talos: "v1.12.11", kubernetes: "1.35.4" });
    const old = wish({ ...small, talos: "v1.12.11", kubernetes: "1.29.4" });
    const configOf = (cluster: DesiredCluster, name: string) =>
      cluster.machines.find((machine) => machine.name === name)?.config.text ?? "";
    const first = (name: string, text: string) => {
      const config = new MachineConfig(text);
      return planned(wish(small), { was, machines: { [name]: { config } } })[0];
    };
    expect(first("w-1", configOf(old, "w-1"))).toBe("pull-images/cp-1");
    // An upgrade that was interrupted after the API server.
    const halfway = configOf(old, "cp-1").replace("kube-apiserver:v1.29.4", "kube-apiserver:v1.35.4");
    expect(first("cp-1", halfway)).toBe("pull-images/cp-1");
  });

  test("Kubernetes first where the new Talos cannot run the old one", () => {
    const was = wish({ ...small, talos: "v1.11.6", kubernetes: "1.29.4" });
    expect(planned(wish(small), { was })).toEqual([
      "pull-images/cp-1",
      "pull-images/w-1",
      ...onOne,
      "> pull-installer/cp-1",
      ...talosOnOne,
    ]);
  });
});
