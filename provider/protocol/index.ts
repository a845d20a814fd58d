// SPDX-License-Identifier: Apache-2.0

export { routes } from "./routes.ts";
export { openSession, serve } from "./serve.ts";
export type { Session } from "./transport/index.ts";
export type { Rpc } from "./unary.ts";
