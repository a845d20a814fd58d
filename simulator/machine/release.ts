// SPDX-License-Identifier: Apache-2.0

/** The Talos release that an installer image carries, from its tag: `…/installer:v1.13.9` gives `v1.13.9`. */
export function releaseOfImage(image: string): string | undefined {
  const [reference = ""] = image.split("@", 1);
  const tag = /:([^/:]+)$/.exec(reference)?.[1];
  return tag !== undefined && /^v\d+\.\d+\.\d+/.test(tag) ? tag : undefined;
}

/** The schematic of an image of the image factory: `…/metal-installer/<id>:v1.13.9` gives the id. */
export function schematicOfImage(image: string): string | undefined {
  return /\/([0-9a-f]{64})[:@]/.exec(image)?.[1];
}

/** Major and minor of a release or image tag as one comparable number: 1.13 is 1013. */
export function minorOf(release: string): number {
  const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)/.exec(release) ?? [];
  return Number(major) * 1_000 + Number(minor);
}

const etcdVersions: Readonly<Record<number, string>> = {
  1009: "3.5.21",
  1010: "3.5.26",
  1011: "3.6.5",
  1012: "3.6.11",
  1013: "3.6.12",
  1014: "3.7.1",
};

/** The etcd that a Talos release carries. */
export function etcdVersionOf(release: string): string {
  return etcdVersions[minorOf(release)] ?? "3.6.12";
}
