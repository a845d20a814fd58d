// SPDX-License-Identifier: Apache-2.0
import { readMachineFacts } from "../../talos/config/index.ts";
import type { Machine } from "../machine/world.ts";

/** Refuses what a real machine refuses (throws `invalid-input` with its words); returns warnings. */
export function checkConfig(text: string, _machine: Machine): readonly string[] {
  readMachineFacts(text);
  return [];
}
