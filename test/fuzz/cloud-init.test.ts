// SPDX-License-Identifier: Apache-2.0
import { cloudInitTarget } from "./targets/cloud-init.ts";
import { withstands } from "./withstands.ts";

withstands(cloudInitTarget);
