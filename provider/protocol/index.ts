// SPDX-License-Identifier: Apache-2.0
export { openSession, routes, serve } from "./routes.ts";
export type { Session } from "./transport/index.ts";
