// SPDX-License-Identifier: Apache-2.0
import { machineConfigTarget } from "./targets/machine-config.ts";
import { withstands } from "./withstands.ts";

withstands(machineConfigTarget);
