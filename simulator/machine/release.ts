// SPDX-License-Identifier: Apache-2.0
import { TalosVersion } from "../../talos/version/index.ts";

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

/** The etcd that a Talos release carries, without `v`. */
export function etcdVersionOf(release: string): string {
  return etcdImageOf(release).replace(/^.*:v?/, "");
}

export function etcdImageOf(release: string): string {
  return TalosVersion.parse(release).contract.images.etcd;
}
