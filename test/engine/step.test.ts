// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { step } from "../../engine/step.ts";

const image = `factory.talos.dev/metal-installer/${"4469".padEnd(64, "0")}:v1.14.1`;
const short = "factory.talos.dev/metal-installer/4469…:v1.14.1";

test("a sentence has the image in its short form, the action as it is", () => {
  expect(step({ kind: "pull-installer", machine: "cp-1", image })).toMatchObject({
    id: "pull-installer/cp-1",
    sentence: `pull ${short} on cp-1`,
    image,
  });
});
