// SPDX-License-Identifier: Apache-2.0
export { type OperateObjectsOptions, operateObjects } from "./operate.ts";
export type { QueueFacts } from "./runtime/queue.ts";
