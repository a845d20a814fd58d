// SPDX-License-Identifier: Apache-2.0
import { type Data, deep, hostileData, hostileKeys } from "./hostile-values.ts";
import type { Random } from "./random.ts";

type Mutable = { [key: string]: Data } | Data[];

/** The containers inside of a value, itself first. */
function containersOf(value: Data, found: Mutable[] = []): Mutable[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(value as Mutable);
  for (const inner of Object.values(value)) containersOf(inner, found);
  return found;
}

/** A copy with one to three places changed: another type, another value, taken out, doubled, moved, or very deep. */
export function mutateData(seed: Data, random: Random, others: readonly Data[]): Data {
  const root = { root: structuredClone(seed) };
  for (let changes = random.pick([1, 1, 2, 3]); changes > 0; changes -= 1) {
    const containers = containersOf(root);
    // The seed as it was: copied into itself again and again, a deep value would be more than we can copy.
    change(random.pick(containers), random, () => random.pick([{ root: seed }, ...containersOf(random.pick(others))]));
  }
  return root.root;
}

function change(container: Mutable, random: Random, foreign: () => Mutable): void {
  const keys = Object.keys(container);
  const fields = container as { [key: string]: Data };
  const put = (key: string, value: Data) =>
    Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
  const key = keys.length === 0 ? undefined : random.pick(keys);
  switch (random.below(8)) {
    case 0:
      if (key !== undefined && Array.isArray(container)) container.splice(Number(key), 1);
      else if (key !== undefined && key !== "root") delete fields[key];
      return;
    case 1:
      if (Array.isArray(container)) container.push(...structuredClone(container.slice(0, 50)));
      else put(random.pick(hostileKeys), hostileData(random));
      return;
    case 2:
      if (key !== undefined) put(key, structuredClone(fields[random.pick(keys)] ?? null));
      return;
    case 3:
      if (key !== undefined) put(key, structuredClone(foreign() as Data));
      return;
    case 4:
      if (key !== undefined && random.chance(0.2)) put(key, deep(random));
      return;
    default:
      if (key !== undefined) put(key, hostileData(random));
  }
}

/** JSON is YAML as well; the `__proto__` of a copy stays a key. */
export const textOfData = (value: Data, random: Random): string =>
  JSON.stringify(value, undefined, random.pick([0, 2])) ?? "null";
