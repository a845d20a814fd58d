// SPDX-License-Identifier: Apache-2.0
import { environmentTarget } from "./targets/environment.ts";
import { withstands } from "./withstands.ts";

withstands(environmentTarget);
