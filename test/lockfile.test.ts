// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const packagesOf = (file: string) =>
  (
    JSON.parse(readFileSync(file, "utf8")) as {
      packages: Record<
        string,
        {
          optionalDependencies?: Record<string, string>;
          resolved?: string;
          integrity?: string;
          inBundle?: true;
          hasInstallScript?: true;
        }
      >;
    }
  ).packages;
const packages = packagesOf("package-lock.json");

test("the lock file names every platform's packages, or npm ci would refuse it", () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
    ),
  );
  expect(missing).toEqual([]);
});

const files = ["package-lock.json", "scripts/mutation/package-lock.json", "scripts/site/package-lock.json"];

// Where the registry in use lacks a package for some platform, npm leaves it or its hash out: take the newest version
// that has all of them (`overrides` for a dependency of a dependency), or npm would install there whatever it is given.
test.each(files)("%s has the hash of every package, those of other platforms included", (file) => {
  const unchecked = Object.entries(packagesOf(file)).filter(
    // What a package carries inside of itself is covered by its own hash.
    ([path, { integrity, inBundle }]) => path !== "" && !inBundle && !integrity?.startsWith("sha512-"),
  );
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test.each(files)("%s names no registry", (file) => {
  expect(Object.entries(packagesOf(file)).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
