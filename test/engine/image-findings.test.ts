// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { imageFindings, type MachineState, type ObservedCluster } from "../../engine/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";

const image = "registry.example/installer:v1.13.5";

function messages(state: Partial<MachineState> | undefined, installImage = image) {
  const machine = { name: "cp-1", role: "controlplane", address: "10.0.0.1" } as const;
  const desired = { talosVersion: TalosVersion.parse("v1.13.9"), machines: [{ ...machine, installImage }] };
  const observed = { machines: new Map(state && [["cp-1", { ...machine, state }]]) };
  return imageFindings(desired as never, observed as unknown as ObservedCluster).map(({ message }) => message);
}

const refused = [`cp-1: the Talos version is v1.13.9, but its installer image is ${image}`];

test("an installer of another release is refused for a machine that it would be used on", () => {
  expect(messages({ kind: "maintenance" } as MachineState)).toEqual(refused);
  expect(messages({ kind: "configured", talosVersion: "v1.13.5" })).toEqual(refused);
});

test.each([
  [
    "a machine that runs the release: talosctl upgrade leaves the image in the config",
    { kind: "configured", talosVersion: "v1.13.9" },
    image,
  ],
  ["a machine that does not answer", { kind: "unreachable" }, image],
  ["a machine that was not looked at", undefined, image],
  ["the image of the release", { kind: "maintenance" }, "registry.example/installer:v1.13.9"],
  ["a tag that is no release", { kind: "maintenance" }, "registry.example/installer:mine"],
  ["a digest", { kind: "maintenance" }, `registry.example/installer@sha256:${"0".repeat(64)}`],
])("but not %s", (_, state, installImage) => {
  expect(messages(state as MachineState | undefined, installImage)).toEqual([]);
});
