// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EnvironmentError, parseEnvironment } from "../../../model/index.ts";

const folder = new URL("../../invalid/", import.meta.url);
const cases = readdirSync(folder).filter((file) => file.endsWith(".yaml"));

/** The fixture stands as environments/sample.yaml; what it refers to is in test/invalid/files/. */
function reader(fixture: string) {
  return (file: string): string | undefined => {
    const name = file.replace("environments/", "");
    const path = name === "sample.yaml" ? new URL(fixture, folder) : new URL(`files/${name}`, folder);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
}

function messageFor(fixture: string): string {
  try {
    parseEnvironment("sample", reader(fixture));
  } catch (error) {
    if (error instanceof EnvironmentError) return `${error.message}\n`;
    throw error;
  }
  throw new Error(`${fixture} was accepted`);
}

describe("an invalid environment file", () => {
  it.each(cases)("%s is refused with exactly the expected message", (fixture) => {
    const expected = new URL(fixture.replace(/\.yaml$/, ".txt"), folder);
    const message = messageFor(fixture);
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(expected, message);
    expect(message).toBe(readFileSync(expected, "utf8"));
  });

  it("has an expected message for each fixture and no message without a fixture", () => {
    const texts = readdirSync(folder).filter((file) => file.endsWith(".txt"));
    expect(texts.map((text) => text.replace(/\.txt$/, ".yaml"))).toEqual(cases);
  });
});
