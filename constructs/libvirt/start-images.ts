// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Construct } from "constructs";
import type { MachineRows } from "../cluster/index.ts";
import { type BindingMeta, expression, projectPath, Resource } from "../terraform/index.ts";
import { LibvirtResource } from "./bindings.ts";

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

/** Remembers what it was given first, until it is replaced. Terraform's own `terraform_data`; see ReplacementTrigger. */
class FirstValue extends Resource<{ readonly input: string }> {
  constructor(scope: Construct, id: string, value: string, meta: BindingMeta) {
    super(scope, id, "terraform_data", { input: value }, meta);
  }
}

/**
 * The volumes that disks are copies of: one for each image that a machine was started from. A disk needs its image for
 * as long as it lives, and a running machine gets a newer Talos by upgrade, so each machine keeps the image that it
 * began with, new machines begin with the current one, and an image goes when the last of its machines has.
 */
export class StartImages {
  readonly #volumes: LibvirtResource<"libvirt_volume">;
  readonly #key: string;
  readonly #users: FirstValue[] = [];

  constructor(scope: Construct, { name, pool, url, label }: StartImagesProps) {
    const type = url.endsWith(".qcow2") ? "qcow2" : "raw";
    // Not the path itself, which differs between JSON and HCL.
    this.#key = `${label}-${createHash("sha256").update(url).digest("hex").slice(0, 8)}.${type}`;
    this.#volumes = new LibvirtResource(
      scope,
      "image",
      "libvirt_volume",
      {
        name: `${name}-${expression("each.key")}`,
        pool,
        target: { format: { type } },
        create: { content: { url: projectPath(url) } },
      },
      // Of an older image, only its name and its bytes count.
      { lifecycle: { ignoreChanges: ["create", "target"] } },
    );
    const users = () => {
      const lists = this.#users.map((user) => `values(${user.terraformAddress})[*].input`);
      if (lists.length === 1) return expression(`toset(${lists.join()})`);
      return expression(`toset(concat(\n${lists.map((list) => `  ${list},\n`).join("")}))`);
    };
    this.#volumes.forEach = { _getForEachExpression: users, _getForExpressionInput: users };
  }

  /** The image that disks of new machines are copies of. A replaced disk starts from the current one. `size` was part of the address in 0.1.0. */
  forDisks(scope: Construct, rows: MachineRows, size: string, replaceTriggeredBy: string[]): BaseImage {
    const first = new FirstValue(scope, "first-image", this.#key, {
      forEach: rows.forEach,
      lifecycle: { ignoreChanges: ["input"], replaceTriggeredBy },
      formerId: ({ pool, index }) => `${pool}_${index}_image_${size}`,
    });
    this.#users.push(first);
    const volume = `${this.#volumes.terraformAddress}[${first.terraformAddress}[each.key].input]`;
    return { path: expression(`${volume}.path`), format: expression(`${volume}.target.format.type`) };
  }
}
