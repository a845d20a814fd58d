// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { ref, Token } from "cdktf";
import type { Construct } from "constructs";
import { projectPath, Resource } from "../terraform/index.ts";
import { VolumeResource } from "./bindings.ts";

export interface StartImagesProps {
  /** Beginning of the volumes' names. */
  readonly name: string;
  readonly pool: string;
  /** Path or URL of the image that new machines start from. */
  readonly url: string;
  /** What tells this image from others, for people. */
  readonly label: string;
}

/** What a disk is a copy of. */
export interface BaseImage {
  readonly path: string;
  readonly format: string;
}

/** Remembers what it was given first. Terraform's own `terraform_data`; see ReplacementTrigger. */
class FirstValue extends Resource<{ readonly input: string }> {
  constructor(scope: Construct, id: string, value: string) {
    super(scope, id, "terraform_data", { input: value }, { lifecycle: { ignoreChanges: ["input"] } });
  }
}

/**
 * The volumes that disks are copies of: one for each image that a machine was started from. A disk needs its image for
 * as long as it lives, and a running machine gets a newer Talos by upgrade, so each machine keeps the image that it
 * began with, new machines begin with the current one, and an image goes when the last of its machines has.
 */
export class StartImages {
  readonly #volumes: VolumeResource;
  readonly #key: string;
  readonly #users: string[] = [];

  constructor(scope: Construct, { name, pool, url, label }: StartImagesProps) {
    const type = url.endsWith(".qcow2") ? "qcow2" : "raw";
    // Not the path itself, which differs between JSON and HCL.
    this.#key = `${label}-${createHash("sha256").update(url).digest("hex").slice(0, 8)}.${type}`;
    this.#volumes = new VolumeResource(
      scope,
      "image",
      {
        name: `${name}-${expression("each.key")}`,
        pool,
        target: { format: { type } },
        create: { content: { url: projectPath(url) } },
      },
      // Of an older image, only its name and its bytes count.
      { lifecycle: { ignoreChanges: ["create", "target"] } },
    );
    const users = () => expression(`toset([\n${this.#users.map((user) => `    ${user},\n`).join("")}  ])`);
    this.#volumes.forEach = { _getForEachExpression: users, _getForExpressionInput: users };
  }

  /** What the disk of a new machine is a copy of. `disk` tells disks of one machine apart: another one begins anew. */
  forDisk(machine: Construct, disk: string): BaseImage {
    const used = `${new FirstValue(machine, `image-${disk}`, this.#key).terraformAddress}.input`;
    this.#users.push(used);
    const volume = `${this.#volumes.terraformAddress}[${used}]`;
    return { path: expression(`${volume}.path`), format: expression(`${volume}.target.format.type`) };
  }
}

const expression = (text: string): string => Token.asString(ref(text));
