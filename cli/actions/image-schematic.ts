// SPDX-License-Identifier: Apache-2.0
import { encodeSchematic, registerSchematic, schematicId } from "../../talos/image/index.ts";
import type { CommandContext } from "../context.ts";
import { readSchematic, type SchematicSource } from "./image-options.ts";

export interface ImageSchematicOptions extends SchematicSource {
  readonly register: boolean;
  readonly json: boolean;
}

/** Prints the id; with `--register` also makes the schematic known to the factory. */
export async function imageSchematic(
  file: string | undefined,
  options: ImageSchematicOptions,
  context: CommandContext,
): Promise<void> {
  const schematic = await readSchematic(file === undefined ? options : { ...options, schematic: file }, context);
  const id = schematicId(schematic);
  if (options.register) {
    const factory = options.factoryUrl === undefined ? {} : { factory: options.factoryUrl };
    await registerSchematic(schematic, { ...factory, signal: context.signal });
  }
  const answer = { id, registered: options.register, schematic: encodeSchematic(schematic) };
  context.stdout.write(options.json ? `${JSON.stringify(answer)}\n` : `${id}\n`);
}
