// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { publishedTypes } from "../../scripts/published-types.ts";

test("published types import from the file that declares a name, and bring no other file along", () => {
  const written = new Map([
    ["api/public.d.ts", 'export { type Kind, Pool as MachinePool } from "../model/index.js";\n'],
    [
      "model/index.d.ts",
      'export type { Kind } from "./kind.js";\nexport { Group as Pool } from "./pool.js";\nexport { key } from "./key.js";\n',
    ],
    ["model/kind.d.ts", 'export type Kind = "a";\n'],
    [
      "model/pool.d.ts",
      'import type { Kind } from "./index.js";\nexport declare class Group { kind: import("./index.js").Kind; other: Kind }\n',
    ],
    ["model/key.d.ts", 'import { KeyObject } from "node:crypto";\nexport declare const key: KeyObject;\n'],
  ]);
  expect(Object.fromEntries(publishedTypes(written, ["api/public.d.ts"]))).toEqual({
    "api/public.d.ts":
      'export { type Kind } from "../model/kind.js";\nexport { Group as MachinePool } from "../model/pool.js";\n',
    "model/kind.d.ts": 'export type Kind = "a";\n',
    "model/pool.d.ts":
      'import type { Kind } from "./kind.js";\nexport declare class Group { kind: import("./kind.js").Kind; other: Kind }\n',
  });
});
