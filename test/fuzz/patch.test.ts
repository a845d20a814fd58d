// SPDX-License-Identifier: Apache-2.0
import { patchTarget } from "./targets/patch.ts";
import { withstands } from "./withstands.ts";

withstands(patchTarget);
