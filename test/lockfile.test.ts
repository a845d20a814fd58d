// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<
    string,
    { optionalDependencies?: Record<string, string>; resolved?: string; hasInstallScript?: true }
  >;
};

test("the lock file names every platform's packages, or npm ci would refuse it", () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
    ),
  );
  expect(missing).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
