// SPDX-License-Identifier: Apache-2.0
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { plainText } from "../plain-text.ts";

/**
 * Reads what a machine says: every text in it is plain from here on. Bytes, such as a config, stay as they are. All
 * replies come through it, and what is in their bytes should, unless it is data that goes back to a machine.
 */
export class MachineText extends BinaryReader {
  override string(strict?: boolean): string {
    return plainText(super.string(strict));
  }
}
