// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { changeVersion, parseEnvironment } from "../../../model/index.ts";

const rest = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
const reader = (files: Record<string, string>) => (path: string) => files[path];
const own = (text: string, base?: string) =>
  reader({ "environments/lab.yaml": text, ...(base === undefined ? {} : { "environments/base.yaml": base }) });
const talos = (text: string, to = "v1.13.9", base?: string) =>
  changeVersion("lab", "talosVersion", to, own(text, base));

describe("a newer version is written", () => {
  test.each([
    [
      "over the old one, with everything around it as it was",
      `# lab\ncluster:\n  name: x # why\n  configContract: v1.13\n  talosVersion:   v1.13.5   # pinned, see 42\n  kubernetesVersion: 1.36.3\n${rest}`,
      `# lab\ncluster:\n  name: x # why\n  configContract: v1.13\n  talosVersion:   v1.13.9   # pinned, see 42\n  kubernetesVersion: 1.36.3\n${rest}`,
    ],
    [
      "in its quotes",
      `cluster: { configContract: v1.13, talosVersion: "v1.13.5" }\n${rest}`,
      `cluster: { configContract: v1.13, talosVersion: "v1.13.9" }\n${rest}`,
    ],
    [
      "with its line ends",
      `cluster:\r\n  configContract: v1.13\r\n  talosVersion: 'v1.13.5'\r\n${rest}`,
      `cluster:\r\n  configContract: v1.13\r\n  talosVersion: 'v1.13.9'\r\n${rest}`,
    ],
  ])("%s", (_, before, after) => {
    const { texts } = talos(before);
    expect([...texts]).toEqual([["environments/lab.yaml", after]]);
  });

  test.each([
    ["into a section", `cluster:\n    # the name\n    name: lab\n${rest}`],
    ["into a section on one line", `cluster: { name: lab }\n${rest}`],
    ["into an empty section on one line", `cluster: {}\n${rest}`],
    ["into a section that says nothing", `cluster:\n${rest}`],
    ["into a section that says nothing but a comment", `cluster: # later\n${rest}`],
    ["into a file without the section", rest],
    ["into a file without a last line end", rest.trimEnd()],
  ])("%s where nobody had said it", (_, before) => {
    const { texts, after } = changeVersion("lab", "kubernetesVersion", "1.36.9", own(before));
    const text = texts.get("environments/lab.yaml");
    expect(after.cluster.kubernetesVersion).toBe("1.36.9");
    expect(parseEnvironment("lab", own(text ?? "")).cluster.kubernetesVersion).toBe("1.36.9");
    for (const line of before.split("\n").filter((line) => !line.startsWith("cluster"))) expect(text).toContain(line);
  });

  test("into the base when it stands there, and into the own file when that has the last word", () => {
    const base = "cluster: { talosVersion: v1.13.5, configContract: v1.12 }\n";
    expect([...talos(rest, "v1.13.9", base).texts]).toEqual([
      ["environments/base.yaml", "cluster: { talosVersion: v1.13.9, configContract: v1.12 }\n"],
    ]);
    expect(talos(`cluster: { talosVersion: v1.13.6 }\n${rest}`, "v1.13.9", base).file).toBe("environments/lab.yaml");
  });

  test.each([
    ["talosVersion", "1.14", "v1.14.1"],
    ["talosVersion", "v1.13", "v1.13.9"],
    ["talosVersion", "latest", "v1.14.1"],
    ["kubernetesVersion", "1.36", "1.36.3"],
    ["kubernetesVersion", "latest", "1.36.3"],
  ] as const)("%s %s exactly, as %s", (field, to, exact) => {
    const before = `cluster: { talosVersion: v1.13.5, kubernetesVersion: 1.36.0 }\n${rest}`;
    const { texts, after } = changeVersion("lab", field, to, own(before));
    expect(after.cluster[field]).toBe(exact);
    expect(texts.get("environments/lab.yaml")).toContain(`${field}: ${exact}`);
  });

  test("of a Talos that is not known yet, with a warning at its place", () => {
    const pinned = "  kubernetesVersion: 1.37.0\n  configContract: v1.14\n";
    const { after } = talos(`cluster:\n  talosVersion: v1.14.1\n${pinned}${rest}`, "v1.15.0");
    expect(after.warnings).toMatchObject([
      { path: "cluster.talosVersion", position: { line: 2 }, hint: expect.stringContaining("contract v1.14") },
    ]);
  });

  test("not again when it is there: the run that wrote it may have been killed", () => {
    const { texts, after } = talos(`cluster: { talosVersion: v1.13.9 }\n${rest}`);
    expect([texts.size, after.cluster.talosVersion]).toEqual([0, "v1.13.9"]);
  });

  test("of Talos together with the installers that the file names: in its quotes, and of each machine", () => {
    const id = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
    const factory = `factory.talos.dev/metal-installer/${id}`;
    const metal = (version: string, image: string, own: string) =>
      `cluster: { talosVersion: ${version}, configContract: v1.13, kubernetesVersion: 1.36.3, installImage: '${image}' }
infrastructure:
  kind: metal
  trustOnFirstUse: true
  machines:
    cp-1: { address: 10.0.0.1, role: controlplane }
    w-1: { address: 10.0.0.2, role: worker, image: "${own}" } # GPU
`;
    const plain = "ghcr.io/siderolabs/installer:v1.12.3";
    // The plain one is not published for 1.14 any more.
    expect([...talos(metal("v1.13.9", plain, "a.example/gpu:v1.13.9"), "v1.14.1").texts.values()]).toEqual([
      metal("v1.14.1", `${factory}:v1.14.1`, "a.example/gpu:v1.14.1"),
    ]);
    expect(talos(metal("v1.14.0", `${factory}:v1.14.0`, "a.example/gpu:v1.14.1"), "v1.14.1").images).toEqual([
      { path: ["cluster", "installImage"], from: `${factory}:v1.14.0`, to: `${factory}:v1.14.1` },
    ]);
  });

  test("of an installer in the base there", () => {
    const base =
      "cluster: { talosVersion: v1.13.5, configContract: v1.13, installImage: a.example/installer:v1.13.5 }\n";
    expect([...talos(rest, "v1.13.9", base).texts]).toEqual([
      [
        "environments/base.yaml",
        "cluster: { talosVersion: v1.13.9, configContract: v1.13, installImage: a.example/installer:v1.13.9 }\n",
      ],
    ]);
  });

  test("of Talos together with the contract that the configs have, where no file has it: they keep it", () => {
    const { texts, after } = talos(`cluster: { talosVersion: v1.13.5, kubernetesVersion: 1.36.3 }\n${rest}`, "v1.14.1");
    expect([...texts]).toEqual([
      [
        "environments/lab.yaml",
        `cluster: { configContract: v1.13, talosVersion: v1.14.1, kubernetesVersion: 1.36.3 }\n${rest}`,
      ],
    ]);
    expect(after.cluster).toMatchObject({ talosVersion: "v1.14.1", configContract: "v1.13" });
  });
});

describe("nothing is written", () => {
  const at = (talosVersion: string, more = "") => `cluster: { talosVersion: ${talosVersion}${more} }\n${rest}`;
  test.each<[string, () => unknown, string]>([
    ["when Talos would go down", () => talos(at("v1.13.9"), "v1.13.5"), "versions only go up"],
    ["when the way is too far for Talos", () => talos(at("v1.9.5"), "v1.13.9"), "too old to upgrade"],
    [
      "when the new Talos does not run this Kubernetes",
      () => talos(at("v1.10.9", ", kubernetesVersion: 1.28.5"), "v1.12.0"),
      "too old to be used with Talos",
    ],
    ["when Kubernetes would jump along", () => talos(at("v1.11.6"), "v1.13.9"), "names no Kubernetes version"],
    [
      "when the image has a tag of its own",
      () => talos(at("v1.13.5", ", installImage: 'a.example/installer:v1.13.5-ours'")),
      "cluster.installImage of lab is a.example/installer:v1.13.5-ours, not a v1.13.9",
    ],
    ["for what is no version", () => talos(at("v1.13.5"), "newest"), "is not an exact Talos version"],
    ["for a release that is not known", () => talos(at("v1.14.1"), "1.15"), "no release of Talos 1.15 is known"],
    ["when the way to a newer Talos is not known", () => talos(at("v1.13.9"), "v1.15.0"), "is not known"],
    [
      "when Kubernetes would skip a release",
      () => changeVersion("lab", "kubernetesVersion", "1.36.3", own(at("v1.13.9", ", kubernetesVersion: 1.34.1"))),
      "unsupported upgrade path 1.34.1 -> 1.36.3",
    ],
    [
      "when Kubernetes would go down",
      () => changeVersion("lab", "kubernetesVersion", "1.35.0", own(at("v1.13.9", ", kubernetesVersion: 1.36.3"))),
      "versions only go up",
    ],
    [
      "when Talos does not know that Kubernetes yet",
      () => changeVersion("lab", "kubernetesVersion", "1.36.0", own(at("v1.12.11", ", kubernetesVersion: 1.35.4"))),
      "too new to be used with Talos",
    ],
    ["over an anchor", () => talos(`cluster: { talosVersion: &v v1.13.5 }\n${rest}`), "not changed here"],
  ])("%s", (_, change, message) => {
    expect(change).toThrow(message);
  });

  test("for workers of another environment's control plane: it has the Kubernetes version", () => {
    const read = reader({
      "environments/main.yaml": rest,
      "environments/lab.yaml":
        "infrastructure: { kind: simulated }\ncontrolPlaneRef: { environment: main }\nworkers: [{ name: w, count: 1 }]\n",
    });
    expect(() => changeVersion("lab", "kubernetesVersion", "1.36.9", read)).toThrow(
      "takes its Kubernetes version from main",
    );
  });
});
