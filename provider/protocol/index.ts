// SPDX-License-Identifier: Apache-2.0
export { createLog } from "./hclog.ts";
export { routes } from "./routes.ts";
export { serve } from "./serve.ts";
export type { Rpc } from "./unary.ts";
