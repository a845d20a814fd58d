// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { ContainerDriver, ContainerdNamespace } from "./gen/common/common.ts";
import { ImageServiceService as images } from "./gen/machine/image.ts";
import { MachineServiceService as service } from "./gen/machine/machine.ts";
import { ask } from "./replies.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** `system`: Talos's own images, the installer's and the kubelet's. `cri`: those that pods run from. */
export type ImageNamespace = "system" | "cri";

const namespaces = { system: ContainerdNamespace.NS_SYSTEM, cri: ContainerdNamespace.NS_CRI };
/** A slow line needs its time for the hundreds of megabytes of an installer. */
const pullDeadline = 30 * 60_000;

/** Images that a machine keeps. */
export function imageCalls(transport: Transport) {
  /** Since Talos 1.13; throws `unimplemented` before. */
  async function pull(image: string, namespace: ImageNamespace, options: CallOptions): Promise<void> {
    const request = {
      containerd: { driver: ContainerDriver.CRI, namespace: namespaces[namespace] },
      imageRef: image,
    };
    const call = { deadline: pullDeadline, ...options };
    for await (const _progress of transport.serverStream(images.pull, request, call)) {
      // Only the end counts.
    }
  }

  async function legacyPull(image: string, namespace: ImageNamespace, options: CallOptions): Promise<void> {
    const request = { namespace: namespaces[namespace], reference: image };
    await ask(transport, service.imagePull, request, { deadline: pullDeadline, ...options });
  }

  return {
    /** Fetches an image beforehand, by whichever call this release has. One that is there already costs nothing. */
    async pullImage(image: string, namespace: ImageNamespace, options: CallOptions = {}): Promise<void> {
      try {
        await pull(image, namespace, options);
      } catch (error) {
        if (!(error instanceof TalosError) || error.code !== "unimplemented") throw error;
        await legacyPull(image, namespace, options);
      }
    },
  };
}

export type ImageCalls = ReturnType<typeof imageCalls>;
