// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Data } from "./hostile-values.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Seed {
  /** From the project's root. */
  readonly file: string;
  readonly text: string;
}

/** Valid and almost valid files of the project, which a mutation spoils a little further. */
export function seedFiles(folder: string, wanted: RegExp, longest = 2048): readonly Seed[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => wanted.test(file) && !file.includes("node_modules"))
    .sort()
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(join(root, folder, file), "utf8") }))
    .filter(({ text }) => text.length <= longest && text.trim() !== "");
}

/** The seeds as data, where they are one document of YAML. */
export function seedData(seeds: readonly Seed[]): readonly Data[] {
  return seeds.flatMap(({ text }) => {
    try {
      return [parse(text) as Data];
    } catch {
      // Seeds that are spoilt as YAML are there for their text.
      return [];
    }
  });
}
