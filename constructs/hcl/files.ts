// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { encryptionFileName } from "../state-encryption.ts";
import { rootFromStack } from "../terraform/index.ts";
import { type BlockPaths, printBlock } from "./body.ts";
import { isObject, type Json, type JsonObject, printLocals } from "./expression.ts";
import { blocksOf, commentOf, fileOf, lifecycleCommentOf, typeOrder } from "./layout.ts";

export interface HclOptions {
  readonly environment: string;
  /** The file that the stack was made from. */
  readonly source: string;
  /** What only OpenTofu is to read, in HCL. */
  readonly encryption?: string | undefined;
  /** From the folder of the HCL to the project's root. @default "../../" */
  readonly rootFromFolder?: string;
}

const mark = "# Written by `talosmith synth ";

const needed = "# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.\n";

/** Whether a file is ours to write again or to remove. */
export function writtenByTalosmith(text: string): boolean {
  return text.startsWith(mark);
}

const printed = new Set(["//", "terraform", "provider", "data", "resource", "locals", "moved", "output"]);

/** A project's own app may add what environments never have. What HCL lacks and the JSON has, an apply would destroy. */
function refuseOtherParts(stack: JsonObject, environment: string): void {
  const others = Object.keys(stack).filter((part) => !printed.has(part));
  if (others.length === 0) return;
  throw new TalosError(
    "invalid-input",
    `${environment}: found ${others.join(", ")} in the stack, which cannot be written as HCL`,
    { hint: "Use the JSON that `talosmith synth` writes: terraform and tofu read it just as well." },
  );
}

/** The files of a stack in HCL, by name, from its JSON: the same addresses, so that one state serves both. */
export function printStack(stack: JsonObject, options: HclOptions): ReadonlyMap<string, string> {
  refuseOtherParts(stack, options.environment);
  const json = moveRoot(stack, options.rootFromFolder ?? "../../") as JsonObject;
  const chunks = new Map<string, string[]>();
  const add = (file: string, text: string) => chunks.set(file, [...(chunks.get(file) ?? []), text]);

  add("versions.tf", printTerraform(json));
  for (const [name, bodies] of entriesOf(json.provider))
    for (const body of Array.isArray(bodies) ? bodies : [bodies])
      add(
        "versions.tf",
        printBlock(`provider "${name}"`, body as JsonObject, new Set(["assume_role", "default_tags"])),
      );
  const told = new Set<string>();
  for (const keyword of ["data", "resource"] as const)
    for (const { type, id, body } of resourcesOf(json[keyword])) {
      const comment = commentOf(type, id);
      add(fileOf(type, id), `${told.has(comment) ? "" : comment}${printResource(keyword, type, id, body)}`);
      told.add(comment);
    }
  if (isObject(json.locals) && Object.keys(json.locals).length > 0)
    add("locals.tf", `${localsComment}${printLocals(json.locals)}`);
  for (const move of Array.isArray(json.moved) ? (json.moved as readonly JsonObject[]) : [])
    add("moved.tf", printMove(move, chunks.has("moved.tf") ? "" : movedComment));
  for (const [name, body] of entriesOf(json.output))
    add("outputs.tf", printBlock(`output "${name}"`, body as JsonObject, new Set()));

  if (options.encryption !== undefined) add(encryptionFileName, options.encryption.trimEnd());

  const header = `${mark}${options.environment} --hcl\` from ${options.source}; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
`;
  return new Map(
    [...chunks]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([file, texts]) => [file, `${header}${file === "versions.tf" ? needed : ""}\n${texts.join("\n\n")}\n`]),
  );
}

const localsComment = "# The machines of each pool, by their key in addresses: what one of them has of its own.\n";

const movedComment =
  "# States of talosmith 0.1.0, where each machine had blocks of its own. Remove this file when all of them were applied.\n";

/** Addresses stand bare. */
function printMove({ from, to }: JsonObject, comment: string): string {
  return `${comment}moved {\n  from = ${from}\n  to   = ${to}\n}`;
}

const lifecycle: BlockPaths = new Set(["lifecycle", "lifecycle.precondition", "lifecycle.postcondition"]);

function printResource(keyword: string, type: string, id: string, body: JsonObject): string {
  const text = printBlock(`${keyword} "${type}" "${id}"`, body, new Set([...lifecycle, ...blocksOf(type)]));
  const reason = lifecycleCommentOf(type, id);
  return reason === undefined ? text : text.replace(/^ {2}lifecycle \{$/m, `  # ${reason}\n$&`);
}

function printTerraform(json: JsonObject): string {
  const { backend, ...terraform } = json.terraform as JsonObject;
  const blocks = entriesOf(backend).map(([kind, body]) =>
    printBlock(`backend "${kind}"`, body as JsonObject, new Set(), "  "),
  );
  const rest = printBlock("terraform", terraform, new Set(["required_providers"]));
  return `${rest.slice(0, -"\n}".length)}\n\n${blocks.join("\n\n")}\n}`;
}

interface Listed {
  readonly type: string;
  readonly id: string;
  readonly body: JsonObject;
}

function resourcesOf(section: Json | undefined): readonly Listed[] {
  return entriesOf(section)
    .sort(([left], [right]) => typeOrder(left) - typeOrder(right) || natural(left, right))
    .flatMap(([type, byId]) =>
      entriesOf(byId)
        .sort(([left], [right]) => natural(left, right))
        .map(([id, body]) => ({ type, id, body: body as JsonObject })),
    );
}

function natural(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value).filter(([key]) => key !== "//") : [];
}

/** Paths to files of the project count from the folder that Terraform runs in. */
function moveRoot(value: Json, root: string): Json {
  if (typeof value === "string")
    return value.startsWith(rootFromStack) ? root + value.slice(rootFromStack.length) : value;
  if (Array.isArray(value)) return value.map((item: Json) => moveRoot(item, root));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, moveRoot(inner, root)]));
}
