// SPDX-License-Identifier: Apache-2.0
import type { Attributes, StateOf } from "../attribute.ts";
import { type Diagnostic, DiagnosticError } from "../diagnostics.ts";
import { parseJson } from "../json.ts";
import type { Listed } from "../provider.ts";
import type { IdentityValues } from "../resource.ts";
import type { Server } from "../server.ts";
import { isObject, objectOf, objectValue, stringType, type Type, type Value } from "../value.ts";
import { importResourceState, readResource } from "./read-state.ts";

/** The type of a resource's identity; undefined where it has none. */
export function identityType<C>(server: Server<C>, typeName: string): Type | undefined {
  const { identity } = server.resource(typeName);
  return identity && objectOf(Object.fromEntries(Object.keys(identity.attributes).map((name) => [name, stringType])));
}

/** The identity of a state; undefined where the type has none, or the state is gone. */
export function identityOf<C>(server: Server<C>, typeName: string, state: Value): Value | undefined {
  const { identity } = server.resource(typeName);
  const values = identity && isObject(state) ? identity.of(state as StateOf<Attributes>) : undefined;
  return values && objectValue(Object.entries(values));
}

/** What `import` takes for an identity. */
export function importIdOf<C>(server: Server<C>, typeName: string, identity: Value): string {
  const { identity: own } = server.resource(typeName);
  const values = isObject(identity) ? identity : {};
  const missing = Object.keys(own?.attributes ?? {}).filter((name) => typeof values[name] !== "string");
  if (own === undefined || missing.length > 0)
    throw new DiagnosticError({
      summary: "Can't be imported by this identity",
      detail: own === undefined ? `${typeName} has no identity.` : `It lacks ${missing.join(", ")}.`,
    });
  return own.idOf(values as IdentityValues);
}

/** A stored identity. There is one version of each yet; what is not of its form is found again by the next refresh. */
export function upgradeIdentity<C>(server: Server<C>, typeName: string, json: string): Value {
  const { identity } = server.resource(typeName);
  const stored = parseJson(json) as Readonly<Record<string, unknown>>;
  const values = Object.keys(identity?.attributes ?? {}).map((name) => [name, stored?.[name]] as const);
  return objectValue(values.map(([name, value]) => [name, typeof value === "string" ? value : null]));
}

export interface FoundResource extends Listed {
  /** Undefined where it was not asked for. */
  readonly state: Value | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The resources of a type that exist, one after the other; with `states`, each as an import would have it. */
export async function* listResources<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
  { limit, states }: { readonly limit: number; readonly states: boolean },
): AsyncGenerator<FoundResource, readonly Diagnostic[]> {
  const list = server.list(typeName);
  const { result = [], diagnostics } = await server.run({ name: "list", milliseconds: undefined }, (operation) =>
    list.list({ ...operation, config: config as never }),
  );
  for (const listed of result.slice(0, limit > 0 ? limit : undefined)) {
    if (!states) {
      yield { ...listed, state: undefined, diagnostics: [] };
      continue;
    }
    const values = objectValue(Object.entries(listed.identity));
    const imported = await importResourceState(server, typeName, importIdOf(server, typeName, values));
    const read = isObject(imported.state ?? null)
      ? await readResource(server, typeName, imported.state ?? null)
      : undefined;
    yield {
      ...listed,
      state: read?.state ?? undefined,
      diagnostics: [...imported.diagnostics, ...(read?.diagnostics ?? [])],
    };
  }
  return diagnostics.list;
}
