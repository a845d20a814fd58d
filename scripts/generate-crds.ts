// SPDX-License-Identifier: Apache-2.0
// Writes deploy/chart/crds and deploy/kustomize/crds, the definitions of the custom resources, from the environment's
// schema and from operator/kinds.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { definitionFiles } from "./definition-files.ts";

const root = new URL("../", import.meta.url);
rmSync(new URL("deploy/chart/crds", root), { recursive: true, force: true });
for (const [file, text] of definitionFiles()) {
  mkdirSync(new URL(".", new URL(file, root)), { recursive: true });
  writeFileSync(new URL(file, root), text);
}
