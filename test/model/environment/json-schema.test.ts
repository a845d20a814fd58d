// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { environmentJsonSchema } from "../../../model/index.ts";

const root = new URL("../../..", import.meta.url);

describe("schemas/environment.schema.json", () => {
  it("is what scripts/generate-environment-schema.ts writes", () => {
    const text = readFileSync(new URL("schemas/environment.schema.json", root), "utf8");
    expect(text).toBe(`${JSON.stringify(environmentJsonSchema(), null, 2)}\n`);
  });

  it.each(["environments/", "examples/environments/"])("is named in the first line of each file of %s", (folder) => {
    for (const file of readdirSync(new URL(folder, root)).filter((name) => name.endsWith(".yaml"))) {
      const [line = ""] = readFileSync(new URL(`${folder}${file}`, root), "utf8").split("\n");
      const up = folder
        .split("/")
        .slice(1)
        .map(() => "..")
        .join("/");
      expect(line, file).toBe(`# yaml-language-server: $schema=${up}/schemas/environment.schema.json`);
    }
  });

  it("describes every field of every kind", () => {
    const undescribed: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === "properties")
          for (const [name, field] of Object.entries(inner as object))
            if (!("description" in (field as object))) undescribed.push(`${path}.${name}`);
        walk(inner, key === "properties" ? path : `${path}.${key}`);
      }
    };
    for (const [index, { then }] of (environmentJsonSchema().allOf as { then: unknown }[]).entries())
      walk(then, `kind ${index}`);
    expect(undescribed.filter((path) => !/\.(infrastructure|controlPlane|workers|workerRef)$/.test(path))).toEqual([]);
  });
});
