// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import {
  type Architecture,
  chosenSchematic,
  type ImageOptions,
  type Platform,
  parseSchematic,
  type Schematic,
  schematicId,
} from "../../talos/image/index.ts";
import { defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { readText } from "./read-text.ts";

export interface SchematicSource {
  /** File of the schematic. */
  readonly schematic?: string;
  readonly schematicId?: string;
  readonly extension: readonly string[];
  readonly kernelArg: readonly string[];
  readonly factoryUrl?: string;
}

export interface ImageSource extends SchematicSource {
  readonly talosVersion?: string;
  readonly platform: Platform;
  readonly arch: Architecture;
  readonly secureboot: boolean;
}

/** The schematic from a file, or from the options alone. */
export async function readSchematic(source: SchematicSource, context: CommandContext): Promise<Schematic> {
  const { schematic: file, extension, kernelArg } = source;
  if (file === undefined) return chosenSchematic({ extensions: extension, kernelArgs: kernelArg });
  if (extension.length + kernelArg.length > 0) {
    throw new TalosError("invalid-input", "--schematic cannot be used together with --extension or --kernel-arg", {
      hint: "Put them into the file.",
    });
  }
  return parseSchematic(await readText(file, context.cwd), file);
}

export async function imageOptions(source: ImageSource, context: CommandContext): Promise<ImageOptions> {
  const id = source.schematicId ?? schematicId(await readSchematic(source, context));
  return {
    schematic: id,
    version: source.talosVersion === undefined ? defaultTalosVersion : TalosVersion.parse(source.talosVersion),
    platform: source.platform,
    architecture: source.arch,
    secureBoot: source.secureboot,
    ...given({ factory: source.factoryUrl }),
  };
}
