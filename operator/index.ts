// SPDX-License-Identifier: Apache-2.0
export { bundleCommand, objectsOf } from "./from-environment.ts";
export { operateObjects } from "./operate.ts";
