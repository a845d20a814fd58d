// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  amazonImage,
  assetUrl,
  chosenSchematic,
  defaultInstallImage,
  encodeSchematic,
  fetchImage,
  type ImageOptions,
  installerOf,
  installerReference,
  kubernetesImages,
  parseSchematic,
  registerSchematic,
  schematicId,
  shortImage,
} from "../../../talos/image/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

const empty = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

describe("a schematic", () => {
  test.each([
    ["customization: {}\n", empty],
    [
      "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n",
      "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
    ],
    [
      "customization:\n    extraKernelArgs:\n        - noapic\n        - nolapic\n",
      "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c",
    ],
    [
      "customization:\n    meta:\n        - key: 10\n          value: foo\n",
      "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f",
    ],
    [
      "overlay:\n    image: siderolabs/sbc-raspberrypi\n    name: rpi_generic\ncustomization: {}\n",
      "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
    ],
    [
      "customization:\n    secureboot:\n        includeWellKnownCertificates: true\n",
      "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
    ],
    [
      "customization:\n    diskImage:\n        sectorSize: 4096\n",
      "92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea",
    ],
  ])("%j has the factory's id", (text, id) => {
    const schematic = parseSchematic(text, "schematic.yaml");
    expect(encodeSchematic(schematic)).toBe(text);
    expect(schematicId(schematic)).toBe(id);
  });

  test("is the empty one when it says nothing", () => {
    expect(schematicId({})).toBe(empty);
    expect(schematicId(parseSchematic("", "f"))).toBe(empty);
    expect(schematicId(chosenSchematic({ extensions: [], kernelArgs: [] }))).toBe(empty);
  });

  test("is made of the extensions and kernel arguments that an environment chooses", () => {
    const chosen = chosenSchematic({ extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: ["noapic"] });
    expect(encodeSchematic(chosen)).toBe(
      "customization:\n    extraKernelArgs:\n        - noapic\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n",
    );
  });

  test.each([
    ["customisation: {}", "f:1:1: unknown field customisation", "The nearest known field is customization."],
    [
      "customization:\n  systemExtensions:\n    officialExtension: [x]",
      "f:3:5: unknown field customization.systemExtensions.officialExtension",
      "The nearest known field is officialExtensions.",
    ],
  ])("with an unknown field is refused: %j", (text, message, hint) => {
    expect(() => parseSchematic(text, "f")).toThrow(expect.objectContaining({ message, hint }));
  });
});

describe("references", () => {
  const of = (version: string, options: Partial<ImageOptions> = {}): ImageOptions => ({
    schematic: empty,
    version: TalosVersion.parse(version),
    platform: "metal",
    ...options,
  });
  test.each([
    ["v1.13.9", {}, `factory.talos.dev/metal-installer/${empty}:v1.13.9`],
    ["v1.14.0-rc.1", { platform: "aws" }, `factory.talos.dev/aws-installer/${empty}:v1.14.0-rc.1`],
    [
      "v1.13.9",
      { platform: "nocloud", secureBoot: true },
      `factory.talos.dev/nocloud-installer-secureboot/${empty}:v1.13.9`,
    ],
    ["v1.9.6", {}, `factory.talos.dev/installer/${empty}:v1.9.6`],
    ["v1.13.9", { factory: "https://factory.example.org/" }, `factory.example.org/metal-installer/${empty}:v1.13.9`],
  ] as const)("the installer of %s with %j is %s", (version, options, expected) => {
    expect(installerReference(of(version, options))).toBe(expected);
  });

  test.each([
    ["v1.9.6", "ghcr.io/siderolabs/installer:v1.9.6"],
    ["v1.13.9", "ghcr.io/siderolabs/installer:v1.13.9"],
    ["v1.14.0", `factory.talos.dev/metal-installer/${empty}:v1.14.0`],
  ])("the installer of a plain %s is %s", (version, expected) => {
    expect(defaultInstallImage(TalosVersion.parse(version))).toBe(expected);
  });

  test.each([
    ["ghcr.io/siderolabs/installer:v1.8.3", "v1.13.9", "ghcr.io/siderolabs/installer:v1.13.9"],
    // Not published any more.
    ["ghcr.io/siderolabs/installer:v1.13.9", "v1.14.1", `factory.talos.dev/metal-installer/${empty}:v1.14.1`],
    [`factory.talos.dev/installer/${empty}:v1.9.6`, "v1.14.1", `factory.talos.dev/installer/${empty}:v1.14.1`],
    ["localhost:5000/installer:v1.14.0-rc.1", "v1.14.1", "localhost:5000/installer:v1.14.1"],
    ["localhost:5000/installer", "v1.14.1", undefined],
    ["a.example/installer:v1.13.9-gpu", "v1.14.1", undefined],
    ["a.example/installer:v1.13.9@sha256:00", "v1.14.1", undefined],
  ])("the installer %s of %s is %s", (image, version, expected) => {
    expect(installerOf(image, TalosVersion.parse(version))).toBe(expected);
  });

  test.each([
    ["disk", {}, "image/ID/v1.13.9/metal-amd64.raw.zst"],
    ["disk", { platform: "nocloud", architecture: "arm64" }, "image/ID/v1.13.9/nocloud-arm64.raw.xz"],
    ["disk", { platform: "aws" }, "image/ID/v1.13.9/aws-amd64.raw.xz"],
    ["qcow2", { platform: "nocloud" }, "image/ID/v1.13.9/nocloud-amd64.qcow2"],
    ["iso", { secureBoot: true }, "image/ID/v1.13.9/metal-amd64-secureboot.iso"],
    ["kernel", {}, "image/ID/v1.13.9/kernel-amd64"],
    ["initramfs", {}, "image/ID/v1.13.9/initramfs-amd64.xz"],
    ["cmdline", {}, "image/ID/v1.13.9/cmdline-metal-amd64"],
    ["uki", {}, "image/ID/v1.13.9/metal-amd64-uki.efi"],
    ["pxe", {}, "pxe/ID/v1.13.9/metal-amd64"],
  ] as const)("the %s with %j is at %s", (asset, options, path) => {
    expect(assetUrl(asset, of("v1.13.9", options))).toBe(`https://factory.talos.dev/${path.replace("ID", empty)}`);
  });

  test("a wrong schematic id is refused", () => {
    expect(() => assetUrl("iso", of("v1.13.9", { schematic: "abc" }))).toThrow("is not a schematic id");
  });

  test("the images of a cluster are those that talosctl lists", () => {
    expect(kubernetesImages(Contract.parse("v1.13"), "1.36.3")).toEqual([
      "ghcr.io/siderolabs/flannel:0.28.8",
      "registry.k8s.io/coredns/coredns:v1.14.6",
      "registry.k8s.io/etcd:v3.6.12",
      "registry.k8s.io/pause:3.10.1",
      "registry.k8s.io/kube-apiserver:v1.36.3",
      "registry.k8s.io/kube-controller-manager:v1.36.3",
      "registry.k8s.io/kube-scheduler:v1.36.3",
      "registry.k8s.io/kube-proxy:v1.36.3",
      "ghcr.io/siderolabs/kubelet:v1.36.3",
      "registry.k8s.io/networking/kube-network-policies:v1.1.0",
    ]);
  });

  test("a release before the network policies has no image of them", () => {
    expect(kubernetesImages(Contract.parse("v1.12"), "1.35.4").join()).not.toContain("network-policies");
  });

  test.each([
    [{ flannel: "0.1.0" }, "ghcr.io/siderolabs/flannel:0.1.0"],
    [{ flannel: "v0.1.0" }, "ghcr.io/siderolabs/flannel:v0.1.0"],
    [{ etcd: "3.5" }, "registry.k8s.io/etcd:v3.5.0"],
    [{ coredns: "v1.2.3" }, "registry.k8s.io/coredns/coredns:v1.2.3"],
    [{ networkPolicies: "1.0.0" }, "registry.k8s.io/networking/kube-network-policies:v1.0.0"],
  ])("versions are taken as talosctl takes them: %j", (versions, image) => {
    expect(kubernetesImages(Contract.parse("v1.13"), "1.36.3", versions)).toContain(image);
  });

  test("a version that is none is refused", () => {
    expect(() => kubernetesImages(Contract.parse("v1.13"), "1.36.3", { etcd: "abc" })).toThrow(
      "is not a valid etcd version",
    );
  });

  test("the machine image of AWS is found by owner and name", () => {
    expect(amazonImage(TalosVersion.parse("v1.13.9"), "eu-central-1")).toEqual({
      owner: "540036508848",
      name: "talos-v1.13.9-eu-central-1-amd64",
    });
  });
});

describe("a factory on this machine", () => {
  const raw = Buffer.from("disk image ".repeat(5000));
  const packed = new Map<string, Buffer>();
  const requests: string[] = [];
  let server: Server;
  let base: string;
  let directory: string;
  let breakAfter: number | undefined;
  let answeredId = "";

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(`${request.method} ${request.url} ${request.headers.range ?? ""}`.trim());
    if (request.url === "/schematics") {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        const id = answeredId || createHash("sha256").update(body).digest("hex");
        if (body.includes("bad/extension"))
          response.writeHead(400).end('official extension "bad/extension" is not available');
        else response.writeHead(201).end(JSON.stringify({ id }));
      });
      return;
    }
    const content = packed.get((request.url ?? "").split("/").at(-1) ?? "");
    if (content === undefined) {
      response.writeHead(404).end("not found");
      return;
    }
    const etag = `"${createHash("sha256").update(content).digest("hex")}"`;
    const asked = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const start = request.headers["if-range"] === etag ? asked : 0;
    const rest = content.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length, etag });
    if (breakAfter === undefined) response.end(rest);
    else {
      response.write(rest.subarray(0, breakAfter), () => setTimeout(() => response.destroy(), 100));
      breakAfter = undefined;
    }
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "talosmith-image-"));
    packed.set("x.raw.xz", execFileSync("xz", ["-c"], { input: raw }));
    packed.set("x.raw.zst", execFileSync("zstd", ["-c", "-q"], { input: raw }));
    packed.set("x.iso", raw);
    packed.set("broken.raw.xz", Buffer.from("this is not xz"));
    server = createServer(serve);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });

  test("takes a schematic again and again, under our id", async () => {
    const schematic = { customization: { extraKernelArgs: ["noapic"] } };
    expect(await registerSchematic(schematic, { factory: base })).toBe(schematicId(schematic));
    expect(await registerSchematic(schematic, { factory: `${base}/` })).toBe(schematicId(schematic));
  });

  test("that computes another id is not believed", async () => {
    answeredId = "0".repeat(64);
    await expect(registerSchematic({}, { factory: base })).rejects.toThrow(
      expect.objectContaining({ code: "conflict" }),
    );
    answeredId = "";
  });

  test("that refuses a schematic is quoted", async () => {
    const schematic = { customization: { systemExtensions: { officialExtensions: ["bad/extension"] } } };
    await expect(registerSchematic(schematic, { factory: base })).rejects.toThrow('"bad/extension" is not available');
  });

  test("that cannot be reached says so", async () => {
    await expect(registerSchematic({}, { factory: "http://127.0.0.1:9" })).rejects.toThrow(
      expect.objectContaining({ code: "unavailable", hint: expect.stringContaining("--factory-url") }),
    );
  });

  test.each(["x.raw.xz", "x.raw.zst", "x.iso"])("gives %s, unpacked and kept", async (file) => {
    const options = { cache: join(directory, file), name: "disk.raw" };
    const first = await fetchImage(`${base}/${file}`, options);
    expect(first.cached).toBe(false);
    expect(readFileSync(first.path).equals(raw)).toBe(true);
    const before = requests.length;
    expect(await fetchImage(`${base}/${file}`, options)).toEqual({ ...first, cached: true });
    expect(requests.length).toBe(before);
    expect(readdirSync(join(directory, file)).sort()).toEqual(["disk.raw", "disk.raw.sha256"]);
  });

  test("is asked again when the kept file was changed", async () => {
    const options = { cache: join(directory, "changed"), name: "x.iso" };
    const { path } = await fetchImage(`${base}/x.iso`, options);
    appendFileSync(path, "tampered");
    expect((await fetchImage(`${base}/x.iso`, options)).cached).toBe(false);
    expect(readFileSync(path).equals(raw)).toBe(true);
  });

  test("that breaks off is asked for the rest", async () => {
    breakAfter = 1000;
    const { path } = await fetchImage(`${base}/x.iso`, { cache: join(directory, "resumed"), name: "x.iso" });
    expect(readFileSync(path).equals(raw)).toBe(true);
    expect(requests.at(-1)).toBe("GET /x.iso bytes=1000-");
  });

  test("goes on with what an earlier call left, but not when the file is another by now", async () => {
    const cache = join(directory, "left");
    const stop = new AbortController();
    breakAfter = 1000;
    const stopped = fetchImage(`${base}/x.iso`, {
      cache,
      name: "x.iso",
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(stopped).rejects.toThrow();
    expect(readdirSync(cache).sort()).toEqual(["x.iso.part", "x.iso.part.etag"]);
    const rebuilt = Buffer.from("another build ".repeat(4000));
    packed.set("x.iso", rebuilt);
    const { path } = await fetchImage(`${base}/x.iso`, { cache, name: "x.iso" });
    packed.set("x.iso", raw);
    expect(readFileSync(path).equals(rebuilt)).toBe(true);
    expect(readdirSync(cache).sort()).toEqual(["x.iso", "x.iso.sha256"]);
  });

  test("a kept file of another checksum is not taken for the one that is wanted", async () => {
    const options = { cache: join(directory, "other"), name: "x.iso" };
    await fetchImage(`${base}/x.iso`, options);
    await expect(fetchImage(`${base}/x.iso`, { ...options, sha256: "00".repeat(32) })).rejects.toThrow("found SHA-256");
  });

  test("a kept unpacked file is compared with the checksum of what was served", async () => {
    const options = { cache: join(directory, "packed"), name: "disk.raw" };
    await fetchImage(`${base}/x.raw.xz`, options);
    const wrong = fetchImage(`${base}/x.raw.xz`, { ...options, sha256: "00".repeat(32) });
    await expect(wrong).rejects.toThrow("found SHA-256");
    const sha256 = createHash("sha256")
      .update(packed.get("x.raw.xz") ?? "")
      .digest("hex");
    const before = requests.length;
    expect((await fetchImage(`${base}/x.raw.xz`, { ...options, sha256 })).cached).toBe(true);
    expect(requests.length).toBe(before);
  });

  test("downloads at once do not write into each other's file", async () => {
    const cache = join(directory, "both");
    const content = Buffer.from("first build ".repeat(40_000));
    const other = Buffer.from("another build ".repeat(40_000));
    packed.set("y.iso", content);
    // The second begins while the first is under way, after the factory has built the image again.
    let second: Promise<{ path: string; sha256: string }> | undefined;
    const first = await fetchImage(`${base}/y.iso`, {
      cache,
      name: "y.iso",
      onProgress: () => {
        if (second !== undefined) return;
        packed.set("y.iso", other);
        second = fetchImage(`${base}/y.iso`, { cache, name: "y.iso" });
      },
    });
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    expect(first.sha256).toBe(hash(content));
    expect((await second)?.sha256).toBe(hash(other));
    expect(readdirSync(cache).sort()).toEqual(["y.iso", "y.iso.sha256"]);
  });

  test.each([
    ["a missing image", "none.iso", {}, "found HTTP status 404"],
    ["a wrong checksum", "x.iso", { sha256: "00".repeat(32) }, "found SHA-256"],
    ["a damaged archive", "broken.raw.xz", {}, "xz cannot unpack it"],
  ])("leaves nothing behind after %s", async (name, file, more, message) => {
    const cache = join(directory, name);
    await expect(fetchImage(`${base}/${file}`, { cache, name: "image", ...more })).rejects.toThrow(message);
    expect(existsSync(cache) ? readdirSync(cache) : []).toEqual([]);
  });

  test("the right checksum is accepted", async () => {
    const sha256 = createHash("sha256").update(raw).digest("hex").toUpperCase();
    writeFileSync(join(directory, "marker"), "");
    expect((await fetchImage(`${base}/x.iso`, { cache: join(directory, "sum"), name: "x", sha256 })).cached).toBe(
      false,
    );
  });
});

test.each([
  [
    `factory.talos.dev/metal-installer/${"4469".padEnd(64, "0")}:v1.14.1`,
    "factory.talos.dev/metal-installer/4469…:v1.14.1",
  ],
  ["ghcr.io/siderolabs/installer:v1.14.1", "ghcr.io/siderolabs/installer:v1.14.1"],
  [`ghcr.io/siderolabs/installer@sha256:${"a".repeat(64)}`, `ghcr.io/siderolabs/installer@sha256:${"a".repeat(64)}`],
])("%s is %s in a sentence", (image, short) => {
  expect(shortImage(image)).toBe(short);
});
