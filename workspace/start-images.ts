// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { EnvironmentOnDisk } from "./context.ts";

type Place = Pick<EnvironmentOnDisk, "root" | "environment">;

/** Images of the file that virtual machines start from and that are not on this machine, which uploads them to the host. */
export function missingImages({ root, environment }: Place): readonly string[] {
  return [...new Set(imagesOf(environment))].filter((image) => !isUrl(image) && !existsSync(resolve(root, image)));
}

/** Before the first deploy: an apply would stop at it, after it has made the pool and the seeds. */
export function refuseMissingImages(place: Place): void {
  const missing = missingImages(place);
  if (missing.length === 0) return;
  throw new TalosError(
    "failed-precondition",
    `${missing.join(", ")}: the image that machines start from is not there`,
    {
      hint: `Put it there, or change image in ${place.environment.file}; without image, the image factory's is used.`,
    },
  );
}

function imagesOf(environment: Environment): readonly string[] {
  if (environment.kind !== "libvirt") return [];
  const { infrastructure, controlPlane, workers } = environment;
  return [infrastructure, controlPlane, ...workers].flatMap((section) => section?.image ?? []);
}

function isUrl(image: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(image);
}
