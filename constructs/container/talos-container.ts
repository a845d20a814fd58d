// SPDX-License-Identifier: Apache-2.0
import type { Size } from "../../model/index.ts";

/** Processors and memory of a container. */
export interface ContainerResources {
  /** Processors, or thousandths of one as `500m`. @default - not set */
  readonly cpu?: number | string | undefined;
  /** Memory, such as `2GiB`. @default - not set */
  readonly memory?: Size | undefined;
}

/** Settings of a pool of containers. */
export interface ContainerPoolSettings {
  /** What the host keeps free for each machine; pods only. @default - nothing */
  readonly requests?: ContainerResources;
  /** What each machine may use at most. @default - everything */
  readonly limits?: ContainerResources;
  /** Volume for EPHEMERAL, such as `20GiB`; pods only. @default 10GiB */
  readonly disk?: Size;
  /** Where the pool's addresses begin; Docker only. @default - by role */
  readonly addressOffset?: number | undefined;
}

/** Talos as a container image. */
export function talosImage(version: string): string {
  return `ghcr.io/siderolabs/talos:${version}`;
}

/** In memory: Talos's own file system is read-only. */
export const temporaryPaths = ["/run", "/system", "/tmp"] as const;
/** On a volume that outlives the container: the config, and with it the machine's identity. */
export const statePath = "/system/state";
/** On a volume that outlives the container: etcd, and what pods keep. */
export const variablePath = "/var";
/** On disk for as long as the container lives: Talos writes them anew at each start. */
export const rewrittenPaths = ["/etc/cni", "/etc/kubernetes", "/usr/libexec/kubernetes", "/opt"] as const;
