// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import {
  ImageServiceImportResponse,
  ImageServiceListResponse,
  ImageServicePullLayerProgress_Status,
  type ImageServicePullProgress,
  ImageServicePullResponse,
  type ImageServiceService,
  ImageServiceVerifyResponse,
} from "../../talos/api/gen/machine/image.ts";
import {
  ImageListResponse,
  ImagePullResponse,
  type MachineServiceService,
} from "../../talos/api/gen/machine/machine.ts";
import { configOf } from "../controllers/membership.ts";
import { imageExists } from "../kubernetes/pod.ts";
import { CallError } from "../machine/call-error.ts";
import { faultOf } from "../machine/fault.ts";
import { minorOf } from "../machine/release.ts";
import { type Call, type Handlers, timestampOf } from "./method.ts";

/** 1.12 and older do not have the service at all. */
function requireModern(call: Call): void {
  if (minorOf(call.machine().talosVersion) < 1_013) {
    throw new CallError("Unimplemented", "unknown service machine.ImageService");
  }
}

function digestOf(image: string): string {
  return `sha256:${createHash("sha256").update(image).digest("hex")}`;
}

/** Images that the config brings along, and those that were pulled. */
function imagesOf(call: Call): readonly string[] {
  const machine = call.machine();
  const configured = Object.values(configOf(machine)?.images ?? {}).filter((image) => image !== "");
  return [...new Set([...configured, ...machine.images])].sort();
}

/** `alpine` is `docker.io/library/alpine:latest`. */
function fullReference(reference: string): string {
  const [first = "", ...rest] = reference.split("/");
  const hosted = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const named = hosted ? reference : `docker.io/${rest.length === 0 ? "library/" : ""}${reference}`;
  return /[:@][^/]+$/.test(named) ? named : `${named}:latest`;
}

/** Puts an image beside the others, where a registry would have it. */
function pull(call: Call, given: string): void {
  const reference = fullReference(given);
  if (!/^[\w.-]+(:\d+)?(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]+)?$/.test(reference)) {
    throw new CallError("InvalidArgument", `failed to parse image reference "${given}": invalid reference format`);
  }
  if (!imageExists(reference)) {
    const what = `failed to resolve reference "${reference}": ${reference}: not found`;
    throw new CallError(
      "NotFound",
      `error pulling image: 1 error(s) occurred:\n\tfailed to pull image "${reference}": ${what}`,
    );
  }
  if (faultOf(call.machine().faults, "disk-full", call.simulation.moment.now) !== undefined) {
    throw new CallError("Internal", `failed to pull image "${reference}": no space left on device`);
  }
  call.change((machine) => ({ ...machine, images: [...new Set([...machine.images, reference])] }));
}

export const imageMethods: Handlers<typeof ImageServiceService> = {
  async *list(call) {
    requireModern(call);
    const createdAt = timestampOf(call.machine().bootedAt);
    for (const name of imagesOf(call)) {
      yield ImageServiceListResponse.fromPartial({ name, digest: digestOf(name), size: 52_428_800n, createdAt });
    }
  },

  async *pull(call, { imageRef }) {
    requireModern(call);
    const total = 52_428_800n;
    const layerId = digestOf(`${imageRef}/layer`);
    const { DOWNLOADING, EXTRACT_COMPLETE } = ImageServicePullLayerProgress_Status;
    yield progress({ layerId, progress: { status: DOWNLOADING, elapsed: undefined, offset: total / 2n, total } });
    await call.simulation.sleep(call.simulation.timings.upgrade / 2, call.signal);
    pull(call, imageRef);
    yield progress({ layerId, progress: { status: EXTRACT_COMPLETE, elapsed: undefined, offset: total, total } });
    yield ImageServicePullResponse.fromPartial({ response: { $case: "name", value: imageRef } });
  },

  async import(call, requests) {
    requireModern(call);
    let size = 0;
    for await (const { request } of requests) if (request?.$case === "imageChunk") size += request.value.bytes.length;
    const name = `docker.io/library/imported:${size}`;
    pull(call, name);
    return ImageServiceImportResponse.fromPartial({ name });
  },

  remove(call, { imageRef }) {
    requireModern(call);
    if (!imagesOf(call).includes(imageRef)) throw new CallError("NotFound", `image "${imageRef}": not found`);
    call.change((machine) => ({ ...machine, images: machine.images.filter((image) => image !== imageRef) }));
    return {};
  },

  verify(call, { imageRef }) {
    requireModern(call);
    const message = "no verification rule matches";
    return ImageServiceVerifyResponse.fromPartial({ verified: false, message, digestedImageRef: imageRef });
  },
};

function progress(value: ImageServicePullProgress): ImageServicePullResponse {
  return ImageServicePullResponse.fromPartial({ response: { $case: "pullProgress", value } });
}

/** The older calls for the same, which all releases have. */
export const legacyImageMethods: Handlers<typeof MachineServiceService> = {
  async *imageList(call) {
    const createdAt = timestampOf(call.machine().bootedAt);
    for (const name of imagesOf(call)) {
      yield ImageListResponse.fromPartial({ name, digest: digestOf(name), size: 52_428_800n, createdAt });
    }
  },

  imagePull(call, { reference }) {
    pull(call, reference);
    return ImagePullResponse.fromPartial({ messages: [{}] });
  },
};
