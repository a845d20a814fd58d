// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { componentImages, componentVersions, withComponentImages } from "../../engine/plan/component-images.ts";
import { configHeldBack, configToJoin } from "../../engine/plan/next-config.ts";
import { plan } from "../../engine/plan/plan.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { found } from "./found.ts";
import { wish } from "./wish.ts";

const golden = (path: string) =>
  new MachineConfig(readFileSync(`test/golden/config/${path}/controlplane.yaml`, "utf8"));
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

/** Text of a user that looks like a component's image to whoever reads lines instead of documents. */
const foreignText = [
  "    inlineManifests:",
  "      - name: second-scheduler",
  "        contents: |",
  "          spec:",
  "            containers:",
  "              - name: scheduler",
  "                image: registry.k8s.io/kube-scheduler:v1.35.0",
  "                image: registry.k8s.io/kube-proxy:v1.30.0",
  "",
].join("\n");
const foreignDocument = [
  "---",
  "apiVersion: v1alpha1",
  "kind: ExtensionServiceConfig",
  "name: scheduler",
  "configFiles:",
  "    - content: |-",
  "        image: registry.k8s.io/kube-apiserver:v1.20.0",
  "      mountPath: /etc/x",
  "",
].join("\n");

describe("the images of Kubernetes in a machine config", () => {
  const contracts = [
    { name: "one document", config: golden("1.13/v1.13/default") },
    { name: "the split documents of contract 1.14", config: golden("1.14/v1.14/default") },
  ];

  test.each(contracts)("are found and written by their places: $name", ({ config }) => {
    const images = componentImages(config);
    expect([...images.keys()]).toEqual([
      "kube-apiserver",
      "kube-controller-manager",
      "kube-scheduler",
      "kube-proxy",
      "kubelet",
    ]);
    expect(new Set(componentVersions(config).values()).size).toBe(1);
    const other = new Map(
      [...images].map(([component]) => [component, `mirror.example:5000/k8s/${component}:v1.99.1`]),
    );
    const written = withComponentImages(config, other);
    expect(componentImages(written)).toEqual(other);
    // Only these lines have changed, and going back gives the same bytes.
    expect(withComponentImages(written, images)).toEqual(config);
    const [before, after] = [config.text.split("\n"), written.text.split("\n")];
    expect(after.filter((line, index) => line !== before[index])).toHaveLength(5);
  });

  test.each(contracts)("are not what a user's manifests and files say: $name", ({ config }) => {
    const withText = new MachineConfig(
      `${config.text.replace(/^cluster:\n/m, `cluster:\n${foreignText}`)}${foreignDocument}`,
    );
    expect(componentImages(withText)).toEqual(componentImages(config));
    const written = withComponentImages(withText, new Map([["kube-scheduler", "x/kube-scheduler:v1.99.0"]]));
    expect(written.text).toContain(foreignDocument);
    expect(written.text).toContain(foreignText);
    expect(componentVersions(written).get("kube-scheduler")).toBe("1.99.0");
  });

  test.each([
    ["registry.k8s.io/kube-scheduler:v1.36.3", "1.36.3"],
    [`registry.k8s.io/kube-scheduler:v1.36.3@${digest("a")}`, "1.36.3"],
    [`registry.k8s.io/kube-scheduler@${digest("a")}`, undefined],
    ["localhost:5000/kube-scheduler", undefined],
    ["mirror.example/our-scheduler:v1.36.3", "1.36.3"],
    ["ghcr.io/siderolabs/kubelet:v1.37.0-beta.1-slim", "1.37.0-beta.1"],
    ["ghcr.io/siderolabs/kubelet:v1.36.3-fat", "1.36.3"],
    ["registry.k8s.io/kube-scheduler:latest", undefined],
  ])("say their version by their tag: %s", (image, version) => {
    const config = new MachineConfig(`cluster:\n  scheduler:\n    image: ${image}\n`);
    expect(componentImages(config).get("kube-scheduler")).toBe(image);
    expect(componentVersions(config).get("kube-scheduler")).toBe(version);
  });

  test.each([
    ["plain", "image: a/kube-scheduler:v1.1.1 # why", "image: b/s:v2.2.2 # why"],
    ["in quotes", 'image: "a/kube-scheduler:v1.1.1"', 'image: "b/s:v2.2.2"'],
    ["in single quotes", "image: 'a/kube-scheduler:v1.1.1'", "image: 'b/s:v2.2.2'"],
    ["in a flow map", "{ image: a/kube-scheduler:v1.1.1, env: {} }", "{ image: b/s:v2.2.2, env: {} }"],
    ["as a block", "image: >-\n      a/kube-scheduler:v1.1.1\n    env: {}", "image: b/s:v2.2.2\n    env: {}"],
    ["with an anchor", "image: &used a/kube-scheduler:v1.1.1", "image: &used b/s:v2.2.2"],
  ])("are written as they stand: %s", (_name, before, after) => {
    const config = (text: string) =>
      new MachineConfig(`machine: {}\ncluster:\n  scheduler:\n    ${text}\n  allow: true\n`);
    expect(withComponentImages(config(before), new Map([["kube-scheduler", "b/s:v2.2.2"]]))).toEqual(config(after));
  });

  test("an alias is replaced where it is used, its anchor stays", () => {
    const config = new MachineConfig("x: &one a/kube-scheduler:v1.1.1\ncluster:\n  scheduler:\n    image: *one\n");
    expect(withComponentImages(config, new Map([["kube-scheduler", "b/s:v2.2.2"]])).text).toBe(
      "x: &one a/kube-scheduler:v1.1.1\ncluster:\n  scheduler:\n    image: b/s:v2.2.2\n",
    );
  });
});

describe("images that are pinned by digest", () => {
  const pinned = (version: string, letter: string) => {
    const desired = wish({ controlPlanes: ["cp-1"], workers: [], kubernetes: version });
    const machines = desired.machines.map((machine) => ({
      ...machine,
      config: new MachineConfig(machine.config.text.replace(/(kube-scheduler:v[\d.]+)/, `$1@${digest(letter)}`)),
    }));
    return { ...desired, machines };
  };
  const [was, desired] = [pinned("1.35.4", "a"), pinned("1.36.3", "b")];
  const configOf = ({ machines }: typeof was) => machines[0]?.config ?? new MachineConfig("");

  test("are upgraded in their turn, by the image that the desired config names", () => {
    const steps = plan(desired, found(desired, { was }), defaultPolicy);
    expect(steps).toContainEqual(
      expect.objectContaining({
        kind: "upgrade-kubernetes",
        component: "kube-scheduler",
        from: "1.35.4",
        to: "1.36.3",
      }),
    );
    expect(steps.some(({ kind }) => kind === "apply-config")).toBe(false);
    expect(steps.flatMap((step) => (step.kind === "pull-images" ? step.images : []))).toContainEqual({
      image: `registry.k8s.io/kube-scheduler:v1.36.3@${digest("b")}`,
      namespace: "cri",
    });
  });

  test("are held back whole: a new digest under an old tag is another release", () => {
    expect(componentImages(configHeldBack(configOf(desired), configOf(was))).get("kube-scheduler")).toBe(
      `registry.k8s.io/kube-scheduler:v1.35.4@${digest("a")}`,
    );
    const [machine] = desired.machines;
    if (machine === undefined) throw new Error("no machine");
    expect(componentImages(configToJoin(machine, found(desired, { was }))).get("kube-scheduler")).toBe(
      `registry.k8s.io/kube-scheduler:v1.35.4@${digest("a")}`,
    );
  });

  test("a desired digest does not stay on the tag of a running release", () => {
    const running = new MachineConfig(configOf(was).text.replace(`@${digest("a")}`, ""));
    expect(componentImages(configHeldBack(configOf(desired), running)).get("kube-scheduler")).toBe(
      "registry.k8s.io/kube-scheduler:v1.35.4",
    );
  });
});
