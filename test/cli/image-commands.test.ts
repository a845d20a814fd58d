// SPDX-License-Identifier: Apache-2.0
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { offlineCommands } from "./offline-commands.ts";

const { folder, talosmith } = offlineCommands();

describe("image", () => {
  const guestAgent = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
  test.each([
    [["schematic", "--extension", "siderolabs/qemu-guest-agent"], guestAgent],
    [["schematic", "file.yaml"], guestAgent],
    [["installer", "--schematic", "file.yaml"], `factory.talos.dev/metal-installer/${guestAgent}:v1.13.9`],
    [
      ["installer", "--platform", "aws", "--schematic-id", guestAgent, "--talos-version", "1.12.11"],
      `factory.talos.dev/aws-installer/${guestAgent}:v1.12.11`,
    ],
    [
      ["url", "iso", "--schematic-id", guestAgent, "--arch", "arm64"],
      `https://factory.talos.dev/image/${guestAgent}/v1.13.9/metal-arm64.iso`,
    ],
  ])("%j", async (args, expected) => {
    writeFileSync(
      join(folder.path, "file.yaml"),
      "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}",
    );
    const { stdout, exitCode } = await talosmith(["image", ...args]);
    expect([stdout, exitCode]).toEqual([`${expected}\n`, 0]);
  });

  test("default lists the images of a cluster under talosctl's names", async () => {
    const { stdout } = await talosmith(["image", "default"]);
    expect(stdout.split("\n")).toContain("registry.k8s.io/kube-apiserver:v1.36.3");
    expect((await talosmith(["images", "k8s-bundle", "--k8s-version", "v1.35.0"])).stdout).toContain(
      "kubelet:v1.35.0\n",
    );
  });

  test("fetch says when the factory cannot be reached", async () => {
    const { stderr, exitCode } = await talosmith([
      "image",
      "fetch",
      "iso",
      "--factory-url",
      "http://127.0.0.1:1",
      "--cache-dir",
      "c",
    ]);
    expect(stderr).toContain("cannot be reached");
    expect(exitCode).toBe(1);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
