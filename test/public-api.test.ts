// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { apiPage } from "../scripts/api-page.ts";
import { declarationErrors, readPublicApi } from "../scripts/public-api.ts";

const api = readPublicApi();
const exported = new Set(api.map(({ name }) => name));

/** Its sections are the environment file's: docs/configuration.md describes them. */
const described = "Environment mentions EnvironmentOf";

describe("the public API", () => {
  test("exports every type that stands in a signature", () => {
    const missing = api.flatMap(({ name, mentions }) =>
      mentions.filter((each) => !exported.has(each)).map((each) => `${name} mentions ${each}`),
    );
    expect(missing.filter((each) => each !== described)).toEqual([]);
  });

  test("exports no plumbing: classes, the calls of a main.ts, and types that their signatures lead to", () => {
    const values = api.filter(({ kind }) => kind === "class" || kind === "function");
    const reached = new Set<string>();
    const reach = (name: string): void => {
      if (reached.has(name)) return;
      reached.add(name);
      for (const next of api.find((each) => each.name === name)?.mentions ?? []) reach(next);
    };
    for (const { name } of values) reach(name);
    expect(api.filter(({ name }) => !reached.has(name)).map(({ name }) => name)).toEqual([]);
    expect(api.filter(({ kind }) => kind === "other").map(({ name }) => name)).toEqual([]);
    expect(values.filter(({ kind }) => kind === "function").map(({ name }) => name)).toEqual([
      "synthesizeApp",
      "synthesizeProject",
    ]);
  });

  test("names members in camelCase", () => {
    const members = api.flatMap(({ name, members }) => members.map((each) => `${name}.${each.name}`));
    expect(members.length).toBeGreaterThan(200);
    expect(members.filter((each) => /[_-]|\.[A-Z]/.test(each))).toEqual([]);
  });

  test("has a sentence for every name and member, and a default for what is optional", () => {
    const silent = api.flatMap(({ name, text, members }) => [
      ...(text === "" ? [name] : []),
      ...members
        .filter((each) => each.kind !== "constructor" && each.text === "")
        .map((each) => `${name}.${each.name}`),
    ]);
    expect(silent).toEqual([]);
    const open = api.flatMap(({ name, members }) =>
      members.filter((each) => each.optional && each.default === undefined).map((each) => `${name}.${each.name}`),
    );
    expect(open).toEqual([]);
  });

  test("has declarations that the build can write", () => {
    expect(declarationErrors()).toEqual([]);
  });

  test("docs/api.md is made from it", () => {
    expect(readFileSync("docs/api.md", "utf8"), "run npm run generate:api").toBe(apiPage(api));
  });
});
