// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realLab } from "../../scripts/real/lab.ts";

const folder = { path: "" };
beforeEach(() => {
  folder.path = mkdtempSync(join(tmpdir(), "talosmith-lab-"));
});
afterEach(() => rmSync(folder.path, { recursive: true, force: true }));

/** A program in the lab's place that writes its words down. */
function program(isUp: boolean): string {
  const path = join(folder.path, "lab");
  const lines = [`echo "$@" >> ${folder.path}/calls`, `[ "$1" != patch ] || echo 'machine: {time: {disabled: true}}'`];
  writeFileSync(path, ["#!/bin/sh", ...lines, `[ "$1" != exec ] || exit ${isUp ? 0 : 1}`].join("\n"));
  chmodSync(path, 0o700);
  return path;
}
const calls = () => readFileSync(join(folder.path, "calls"), "utf8").trim().split("\n");

describe("the real lab", () => {
  test("powers on what is missing, powers off what is too much, empties all, and leaves a lab up that was up", () => {
    const lab = realLab(program(true));
    expect(lab.patches).toEqual([{ machine: { time: { disabled: true } } }]);
    const size = (controlPlanes: number, workers: number) => ({ controlPlanes, workers });
    lab.power(size(1, 1));
    lab.power(size(2, 2));
    lab.power(size(1, 1));
    lab.wipe(size(1, 1));
    lab.close();
    expect(calls().slice(2)).toEqual([
      "start trial-cp1 10.77.0.12",
      "start trial-w1 10.77.0.16",
      "start trial-cp2 10.77.0.13",
      "start trial-w2 10.77.0.17",
      "stop trial-cp2",
      "stop trial-w2",
      "stop trial-cp1",
      "stop trial-w1",
      "start trial-cp1 10.77.0.12",
      "start trial-w1 10.77.0.16",
      "stop trial-cp1",
      "stop trial-w1",
    ]);
  });

  test("takes a lab down that it brought up", () => {
    realLab(program(false)).close();
    expect(calls()).toEqual(["exec true", "up", "patch", "down"]);
  });

  test("names the variable where the program is missing", () => {
    expect(() => realLab(undefined)).toThrow("TALOSMITH_REAL_LAB: found nothing, expected the path of a program");
    expect(() => realLab("/nonexistent")).toThrow("found /nonexistent");
  });
});
