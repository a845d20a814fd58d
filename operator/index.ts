// SPDX-License-Identifier: Apache-2.0
export { operateObjects } from "./operate.ts";
