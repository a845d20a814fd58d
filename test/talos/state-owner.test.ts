// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { ownerAt, stateOwner } from "../../model/state-owner.ts";

const owner = (backend: string) => stateOwner({ environment: "local", backend, workspace: "default" });

test.each([
  ["local:state/local.tfstate", "local:/home/ann/lab/state/local.tfstate"],
  ["local:/else/local.tfstate", "local:/else/local.tfstate"],
  ["s3:states/local.tfstate", "s3:states/local.tfstate"],
])("a state in %s is known as one in %s", (backend, expected) => {
  expect(ownerAt(owner(backend), "/home/ann/lab")).toBe(`environment local, backend ${expected}, workspace default`);
});
