// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const packagesOf = (file: string) =>
  (
    JSON.parse(readFileSync(file, "utf8")) as {
      packages: Record<
        string,
        { optionalDependencies?: Record<string, string>; resolved?: string; hasInstallScript?: true }
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

test.each(["package-lock.json", "mutation/package-lock.json", "site/package-lock.json"])(
  "%s names no registry",
  (file) => {
    expect(Object.entries(packagesOf(file)).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  },
);
