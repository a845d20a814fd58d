// SPDX-License-Identifier: Apache-2.0
export { openSession, type Rpc, routes, serve } from "./routes.ts";
export type { Session } from "./transport/index.ts";
