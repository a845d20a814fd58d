// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { defaultInstallImage } from "../../../talos/config/index.ts";
import { diskImageUrl, installerImage, plainInstallerImage, schematicId } from "../../../talos/environment/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

describe("the image factory", () => {
  it.each([
    [[], [], "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"],
    [["siderolabs/qemu-guest-agent"], [], "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"],
    [[], ["noapic", "nolapic"], "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c"],
  ])("has this id for extensions %j and kernel arguments %j", (extensions, kernelArgs, id) => {
    expect(schematicId({ extensions, kernelArgs })).toBe(id);
  });

  it("agrees with the machine configs on the installer of every release", () => {
    for (const version of Contract.all().map((contract) => TalosVersion.newestOf(contract)))
      expect(plainInstallerImage(version)).toBe(defaultInstallImage(version));
  });

  it("names images by schematic, release, platform and architecture", () => {
    const plain = { extensions: [], kernelArgs: [] };
    const id = schematicId(plain);
    expect(diskImageUrl(plain, "v1.13.9", "nocloud", "amd64")).toBe(
      `https://factory.talos.dev/image/${id}/v1.13.9/nocloud-amd64.qcow2`,
    );
    expect(installerImage(plain, "v1.13.9", "aws")).toBe(`factory.talos.dev/aws-installer/${id}:v1.13.9`);
  });
});
