// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import {
  ImageServiceImportResponse,
  ImageServiceListResponse,
  ImageServicePullLayerProgress_Status,
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
import { hasFault } from "../machine/fault.ts";
import { minorOf } from "../machine/release.ts";
import { answer, type Call, type Handlers, timestampOf } from "./method.ts";

/** Of every image, in bytes. */
const size = 52_428_800n;

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

function described(call: Call) {
  const createdAt = timestampOf(call.machine().bootedAt);
  return imagesOf(call).map((name) => ({ name, digest: digestOf(name), size, createdAt }));
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
  if (hasFault(call.machine(), "disk-full", call.simulation.moment.now)) {
    throw new CallError("Internal", `failed to pull image "${reference}": no space left on device`);
  }
  call.change((machine) => ({ ...machine, images: [...new Set([...machine.images, reference])] }));
}

export const imageMethods: Handlers<typeof ImageServiceService> = {
  async *list(call) {
    requireModern(call);
    for (const image of described(call)) yield ImageServiceListResponse.fromPartial(image);
  },

  async *pull(call, { imageRef }) {
    requireModern(call);
    const { DOWNLOADING, EXTRACT_COMPLETE } = ImageServicePullLayerProgress_Status;
    yield progress(imageRef, DOWNLOADING, size / 2n);
    await call.simulation.sleep(call.simulation.timings.upgrade / 2, call.signal);
    pull(call, imageRef);
    yield progress(imageRef, EXTRACT_COMPLETE, size);
    yield ImageServicePullResponse.fromPartial({ response: { $case: "name", value: imageRef } });
  },

  async import(call, requests) {
    requireModern(call);
    let bytes = 0;
    for await (const { request } of requests) if (request?.$case === "imageChunk") bytes += request.value.bytes.length;
    const name = `docker.io/library/imported:${bytes}`;
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

function progress(image: string, status: ImageServicePullLayerProgress_Status, offset: bigint) {
  const value = { layerId: digestOf(`${image}/layer`), progress: { status, offset, total: size } };
  return ImageServicePullResponse.fromPartial({ response: { $case: "pullProgress", value } });
}

/** The older calls for the same, which all releases have. */
export const legacyImageMethods: Handlers<typeof MachineServiceService> = {
  async *imageList(call) {
    for (const image of described(call)) yield ImageListResponse.fromPartial(image);
  },

  imagePull: answer(ImagePullResponse, (call, { reference }) => {
    pull(call, reference);
  }),
};
