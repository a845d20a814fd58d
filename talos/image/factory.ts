// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { factoryHost } from "./references.ts";
import { encodeSchematic, type Schematic, schematicId } from "./schematic.ts";

export interface FactoryOptions {
  /** Base URL. @default the public factory */
  readonly factory?: string;
  readonly signal?: AbortSignal;
}

/**
 * Makes the schematic known to the factory, which has to know it before it serves its images, and returns its id.
 * The same schematic may be registered again and again. Throws `conflict` when the factory computes another id.
 */
export async function registerSchematic(schematic: Schematic, options: FactoryOptions = {}): Promise<string> {
  const expected = schematicId(schematic);
  const url = `${(options.factory ?? `https://${factoryHost}`).replace(/\/+$/, "")}/schematics`;
  const response = await request(url, {
    method: "POST",
    headers: { "content-type": "application/yaml" },
    body: encodeSchematic(schematic),
    signal: options.signal ?? null,
  });
  const text = await response.text();
  if (!response.ok) {
    throw new TalosError("invalid-input", `${url}: the image factory refused the schematic: ${firstLine(text)}`, {
      hint: "Check the names of the extensions.",
    });
  }
  const id = idOf(text);
  if (id !== expected) {
    throw new TalosError("conflict", `${url}: found schematic id ${id ?? "none"}, expected ${expected}`, {
      hint: "The factory may be newer than this talosmith; use its id in installImage by hand.",
    });
  }
  return expected;
}

/** Asks over HTTP; a failure to connect becomes one clear error. */
export async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (init.signal?.aborted) throw new TalosError("canceled", `${url}: stopped`, { cause });
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
    throw new TalosError("unavailable", `${url}: cannot be reached: ${reason}`, {
      hint: "Work offline with the id alone, or name a factory that can be reached with --factory-url.",
      cause,
    });
  }
}

function idOf(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const id = typeof answer === "object" && answer !== null && "id" in answer ? answer.id : undefined;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 200);
}
