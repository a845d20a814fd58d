// SPDX-License-Identifier: Apache-2.0
import { Token } from "cdktn";
import type { IConstruct } from "constructs";
import {
  type EnvironmentParts,
  type PartFault,
  parseSize,
  partFaults,
  type Size,
  sectionFaults,
} from "../model/index.ts";
import { refuse } from "./errors.ts";

/** References and expressions have their values when Terraform runs. */
function isOpen(value: unknown): boolean {
  return Token.isUnresolved(value) || (typeof value === "string" && value.includes("${"));
}

/** Holds props against the rules of an environment file; `complete` when nothing is missing. Throws ConstructInputError. */
export function checkParts(
  parts: EnvironmentParts,
  complete: boolean,
  ownerOf: (path: PartFault["path"]) => IConstruct,
): void {
  const faults = partFaults(parts, complete, isOpen);
  const [first] = faults;
  if (first === undefined) return;
  const owner = ownerOf(first.path);
  const own = faults.filter(({ path }) => ownerOf(path) === owner);
  refuse(owner, own.map(({ message }) => message).join("; "));
}

/** Holds an add-on or a backup against the schema of an environment file. Throws ConstructInputError. */
export function checkSection(construct: IConstruct, section: "addons" | "backup", props: object, place: string): void {
  const faults = sectionFaults(section, props, isOpen);
  if (faults.length > 0) refuse(construct, `${place}: ${faults.join("; ")}`);
}

/** Bytes of a size. `place` is where it is in the props. Throws ConstructInputError. */
export function bytesOf(construct: IConstruct, place: string, size: Size): number {
  const bytes = typeof size === "number" ? size : parseSize(size);
  return bytes ?? refuse(construct, `${place} is ${JSON.stringify(size)}; expected a size such as "4GiB"`);
}
